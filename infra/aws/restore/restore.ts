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
  await client.send(
    new UpdateTimeToLiveCommand({
      ...table,
      TimeToLiveSpecification: { AttributeName: 'expires', Enabled: true },
    }),
  );
  await client.send(
    new UpdateContinuousBackupsCommand({
      ...table,
      PointInTimeRecoverySpecification: { PointInTimeRecoveryEnabled: true },
    }),
  );
  await client.send(new UpdateTableCommand({ ...table, DeletionProtectionEnabled: true }));
  for (const [name, isMet] of await checkTable(client, to)) {
    say(`${isMet ? 'ok' : 'MISSING'}  ${name}`);
    if (!isMet) throw new Error(`The table ${to} was restored, but lacks this: ${name}.`);
  }
}

/** Checks what a key table needs, as DynamoDB itself describes it. */
async function checkTable(client: DynamoDBClient, table: string): Promise<Array<[string, boolean]>> {
  const at = { TableName: table };
  const [described, expiry, backups] = await Promise.all([
    client.send(new DescribeTableCommand(at)),
    client.send(new DescribeTimeToLiveCommand(at)),
    client.send(new DescribeContinuousBackupsCommand(at)),
  ]);
  const { TimeToLiveStatus, AttributeName } = expiry.TimeToLiveDescription ?? {};
  const recovery = backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
  let keys = 0;
  for await (const { id } of createDynamoTable({ client, table }).list('key_')) if (id) keys += 1;
  return [
    [`${keys} keys`, keys > 0],
    ['expiry', AttributeName === 'expires' && /^ENABL/.test(TimeToLiveStatus ?? '')],
    ['point-in-time recovery', recovery?.PointInTimeRecoveryStatus === 'ENABLED'],
    ['protection against deletion', described.Table?.DeletionProtectionEnabled === true],
  ];
}
