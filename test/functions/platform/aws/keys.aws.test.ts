import { setTimeout } from 'node:timers/promises';
import { PutItemCommand, ScanCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createDynamoKeys } from '../../../../functions/platform/aws/keys.ts';
import { createApiKey, hashApiKey } from '../../../../functions/platform/keys/api-key.ts';
import { startDynalite } from '../../../infra/aws/servers/dynalite.ts';
import { describeKeys } from '../keys/contract.ts';

describeKeys('a DynamoDB table', async () => {
  const { client, close } = await startDynalite('keys');
  return {
    keys: createDynamoKeys({ client, table: 'keys' }),
    others: createDynamoKeys({ client, table: 'keys' }),
    dump: async () => JSON.stringify((await client.send(new ScanCommand({ TableName: 'keys' }))).Items),
    wait: setTimeout,
    close,
  };
});

it('keeps keys of earlier versions valid, and manages them', async () => {
  const { client, close } = await startDynalite('keys');
  const keys = createDynamoKeys({ client, table: 'keys' });
  const apiKey = createApiKey();
  const hash = hashApiKey(apiKey);
  const created = { S: new Date().toISOString() };
  const item = { id: { S: hash.slice(0, 16) }, hash: { S: hash }, tenant: { S: 'old-owner' }, created };
  await client.send(new PutItemCommand({ TableName: 'keys', Item: item }));

  const found = await keys.find(apiKey);

  expect(found).toMatchObject({ account: 'old-owner', name: 'imported', disabled: false });
  expect((await keys.list()).map(({ id }) => id)).toEqual([found!.id]);
  await keys.update(found!.id, { disabled: true });
  expect(await keys.find(apiKey)).toBeUndefined();
  expect(await keys.revoke(found!.id)).toBe(true);
  expect(await keys.list()).toEqual([]);
  await close();
});
