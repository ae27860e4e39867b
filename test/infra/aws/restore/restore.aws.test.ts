import {
  CreateTableCommand,
  DescribeContinuousBackupsCommand,
  DescribeTableCommand,
  DescribeTimeToLiveCommand,
  type DynamoDBClient,
  PutItemCommand,
  paginateScan,
  RestoreTableToPointInTimeCommand,
  type RestoreTableToPointInTimeCommandInput,
  UpdateContinuousBackupsCommand,
  UpdateTableCommand,
  UpdateTimeToLiveCommand,
} from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createDynamoTable } from '../../../../functions/platform/aws/table.ts';
import { createStores } from '../../../../functions/platform/stores.ts';
import { restoreTable } from '../../../../infra/aws/restore/restore.ts';
import { startDynalite } from '../../../aws-servers/dynalite.ts';

/** Copies a table, as a restore does: without expiry, backups and protection. */
async function copy(client: DynamoDBClient, from: string, to: string): Promise<void> {
  await client.send(
    new CreateTableCommand({
      TableName: to,
      AttributeDefinitions: [{ AttributeName: 'id', AttributeType: 'S' }],
      KeySchema: [{ AttributeName: 'id', KeyType: 'HASH' }],
      BillingMode: 'PAY_PER_REQUEST',
    }),
  );
  for await (const { Items = [] } of paginateScan({ client }, { TableName: from }))
    for (const Item of Items) await client.send(new PutItemCommand({ TableName: to, Item }));
}

/** Stands in for the commands that dynalite lacks. What was set is what is described. */
function addMissingCommands(client: DynamoDBClient, { ignores = '' } = {}): void {
  const done = new Set<string>();
  const restore = async ({ SourceTableName, TargetTableName }: RestoreTableToPointInTimeCommandInput) => {
    await copy(client, SourceTableName!, TargetTableName!);
    return {};
  };
  const setters = [UpdateTimeToLiveCommand, UpdateContinuousBackupsCommand, UpdateTableCommand].map(
    ({ name }) => name,
  );
  const status = (name: string) => (done.has(name) ? 'ENABLED' : 'DISABLED');
  client.middlewareStack.add(
    (next, { commandName = '' }) =>
      async (args) => {
        const reply = (output: object) => ({ output: { $metadata: {}, ...output }, response: {} });
        if (setters.includes(commandName)) {
          if (commandName !== ignores) done.add(commandName);
          return reply({});
        }
        switch (commandName) {
          case RestoreTableToPointInTimeCommand.name:
            return reply(await restore(args.input as RestoreTableToPointInTimeCommandInput));
          case DescribeTimeToLiveCommand.name: {
            const TimeToLiveStatus = status(UpdateTimeToLiveCommand.name);
            return reply({ TimeToLiveDescription: { TimeToLiveStatus, AttributeName: 'expires' } });
          }
          case DescribeContinuousBackupsCommand.name: {
            const PointInTimeRecoveryStatus = status(UpdateContinuousBackupsCommand.name);
            const PointInTimeRecoveryDescription = { PointInTimeRecoveryStatus };
            return reply({ ContinuousBackupsDescription: { PointInTimeRecoveryDescription } });
          }
          case DescribeTableCommand.name: {
            const { output, ...others } = await next(args);
            const { Table } = output as { Table?: object };
            const DeletionProtectionEnabled = done.has(UpdateTableCommand.name);
            return { ...others, output: { ...output, Table: { ...Table, DeletionProtectionEnabled } } };
          }
          default:
            return next(args);
        }
      },
    { step: 'initialize' },
  );
}

it('restores keys, accounts and limits to a new table with expiry, backups and protection', async () => {
  const { client, close } = await startDynalite('keys');
  const before = createStores(createDynamoTable({ client, table: 'keys' }), ['pdftools']);
  const { apiKey, record } = await before.keys.create({ name: 'alice', limits: { perMonth: 2 } });
  await before.accounts.add(record.account, 'alice@example.com');
  const call = { account: record.account, limits: { perMonth: 2 }, expires: Date.now() };
  await before.limiter.admit(call);
  addMissingCommands(client);
  const said: string[] = [];

  await restoreTable(client, { from: 'keys', to: 'restored' }, (text) => said.push(text));

  const after = createStores(createDynamoTable({ client, table: 'restored' }), ['pdftools']);
  expect(await after.keys.find(apiKey)).toMatchObject({ id: record.id, account: record.account });
  expect(await after.accounts.get(record.account)).toMatchObject({ email: 'alice@example.com' });
  expect([await after.limiter.admit(call), await after.limiter.admit(call)]).toMatchObject([
    { admitted: true },
    { admitted: false, exceeded: 'perMonth' },
  ]);
  expect(said).toEqual([
    'restoring keys as restored',
    'ok  1 keys',
    'ok  expiry',
    'ok  point-in-time recovery',
    'ok  protection against deletion',
  ]);
  await close();
});

it.each([
  [UpdateTimeToLiveCommand.name, 'expiry'],
  [UpdateContinuousBackupsCommand.name, 'point-in-time recovery'],
  [UpdateTableCommand.name, 'protection against deletion'],
])('fails if %s has no effect', async (ignores, name) => {
  const { client, close } = await startDynalite('keys');
  await createStores(createDynamoTable({ client, table: 'keys' }), []).keys.create({ name: 'alice' });
  addMissingCommands(client, { ignores });

  await expect(restoreTable(client, { from: 'keys', to: 'restored' }, () => {})).rejects.toThrow(
    `The table restored was restored, but lacks this: ${name}.`,
  );
  await close();
});
