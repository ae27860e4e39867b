/** List prices in the guide that are no part of the cost of a conversion, of the same place and time as `PRICES`. */
export const OTHER_PRICES = {
  /** Per GiB and second of `/tmp` beyond the first 512 MiB. */
  lambdaTemporaryGibSecond: 0.0000000309,
  s3GibMonth: 0.023,
  outGib: 0.09,
  /** Per metric and month, without the free ten metrics, ten alarms and three dashboards. */
  metricMonth: 0.3,
  alarmMonth: 0.1,
  dashboardMonth: 3,
  /** Per GiB and month of the key table, and of its backups. */
  dynamoGibMonth: 0.25,
  dynamoBackupGibMonth: 0.2,
  /** Cost of settings that are off by default. Per GiB and second, x86. */
  provisionedGibSecond: 0.0000041667,
  cloudFrontRequest: 1e-6,
  wafMonth: 7,
  wafRequest: 0.6e-6,
  natHour: 0.045,
  natGib: 0.045,
} as const;
