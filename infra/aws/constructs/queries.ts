import { CfnQueryDefinition, type ILogGroup } from 'aws-cdk-lib/aws-logs';
import { Construct } from 'constructs';

/** Queries of CloudWatch Logs Insights, by name. An operator replaces the text in capital letters. */
export const QUERIES: Readonly<Record<string, string>> = {
  'by request ID': `fields @timestamp, @log, event, tool, code, status, milliseconds, cause
| filter requestId = 'REQUEST_ID'
| sort @timestamp asc`,
  'by account': `fields @timestamp, event, tool, code, milliseconds, requestId
| filter account = 'ACCOUNT' or keyId = 'KEY_ID'
| sort @timestamp desc
| limit 200`,
  slowest: `fields @timestamp, tool, code, milliseconds, requestId, keyId
| filter event = 'call'
| sort milliseconds desc
| limit 50`,
  'failed by code': `filter event = 'call' and code != 'OK'
| stats count(*) as calls, count_distinct(keyId) as keys, latest(requestId) as example by code, tool
| sort calls desc`,
};

/** Saves the queries for the logs of all functions, in a folder with the name of the stack. */
export class Queries extends Construct {
  constructor(
    scope: Construct,
    id: string,
    { folder, logs }: { folder: string; logs: readonly ILogGroup[] },
  ) {
    super(scope, id);
    for (const [name, queryString] of Object.entries(QUERIES))
      new CfnQueryDefinition(this, name, {
        name: `${folder}/${name}`,
        queryString,
        logGroupNames: logs.map(({ logGroupName }) => logGroupName),
      });
  }
}
