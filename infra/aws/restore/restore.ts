import {
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  RestoreTableToPointInTimeCommand,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
  waitUntilTableExists,
} from '@aws-sdk/client-dynamodb';
import { createDynamoTable } from '../../../functions/platform/aws/table.ts';

interface Restore {
  readonly from: string;
  /** Name of the new table. */
  readonly to: string;
  /** Latest possible state if absent. */
  readonly at?: Date | undefined;
}

/** Maximum seconds that a restore takes. */
const MAX_WAIT = 6 * 3600;

/**
 * Restores the key table to an earlier state under a new name, and sets what a restore leaves out: expiry, backups and
 * protection against deletion.
 * @throws Error if the new table lacks any of them
 */
export async function restoreTable(
  client: DynamoDBClient,
  { from, to, at }: Restore,
  say: (text: string) => void,
): Promise<void> {
  const time = at ? { RestoreDateTime: at } : { UseLatestRestorableTime: true };
  await client.send(
    new RestoreTableToPointInTimeCommand({ SourceTableName: from, TargetTableName: to, ...time }),
  );
  say(`restoring ${from} as ${to}`);
  await waitUntilTableExists({ client, maxWaitTime: MAX_WAIT, minDelay: 1 }, { TableName: to });
  const table = { TableName: to };
  const ttl = { AttributeName: 'expires', Enabled: true };
  const recovery = { PointInTimeRecoveryEnabled: true };
  await client.send(new UpdateTimeToLiveCommand({ ...table, TimeToLiveSpecification: ttl }));
  await client.send(
    new UpdateContinuousBackupsCommand({ ...table, PointInTimeRecoverySpecification: recovery }),
  );
  await client.send(new UpdateTableCommand({ ...table, DeletionProtectionEnabled: true }));

  // As DynamoDB itself describes it.
  const expiry = (await client.send(new DescribeTimeToLiveCommand(table))).TimeToLiveDescription;
  const backups = (await client.send(new DescribeContinuousBackupsCommand(table)))
    .ContinuousBackupsDescription;
  const isProtected = (await client.send(new DescribeTableCommand(table))).Table?.DeletionProtectionEnabled;
  const keys = await Array.fromAsync(createDynamoTable({ client, table: to }).list('key_'));
  const met = {
    [`${keys.length} keys`]: keys.length > 0,
    expiry: expiry?.AttributeName === 'expires' && /^ENABL/.test(expiry.TimeToLiveStatus ?? ''),
    'point-in-time recovery':
      backups?.PointInTimeRecoveryDescription?.PointInTimeRecoveryStatus === 'ENABLED',
    'protection against deletion': isProtected === true,
  };
  for (const [name, isMet] of Object.entries(met)) {
    say(`${isMet ? 'ok' : 'MISSING'}  ${name}`);
    if (!isMet) throw new Error(`The table ${to} was restored, but lacks this: ${name}.`);
  }
}
