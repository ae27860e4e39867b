import { PutItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it, onTestFinished } from 'vitest';
import { createDynamoAccounts } from '../../../../functions/platform/aws/accounts.ts';
import { createDynamoAudit } from '../../../../functions/platform/aws/audit.ts';
import { createDynamoFailures } from '../../../../functions/platform/aws/failures.ts';
import { createDynamoKeys } from '../../../../functions/platform/aws/keys.ts';
import { createApiKey, hashApiKey, keyIdOf } from '../../../../functions/platform/keys/api-key.ts';
import { startDynalite } from '../../../aws-servers/dynalite.ts';
import { describeAccounts } from '../accounts/contract.ts';

describeAccounts('DynamoDB', async () => {
  const { client, close } = await startDynalite('keys');
  const store = { client, table: 'keys' };
  return {
    accounts: createDynamoAccounts(store),
    keys: createDynamoKeys(store),
    failures: createDynamoFailures(store),
    audit: createDynamoAudit(store),
    close,
  };
});

it('disables the keys of earlier versions, which the item of their account does not list', async () => {
  const { client, close } = await startDynalite('keys');
  onTestFinished(() => close());
  const store = { client, table: 'keys' };
  const [accounts, keys] = [createDynamoAccounts(store), createDynamoKeys(store)];
  const apiKey = createApiKey();
  const hash = hashApiKey(apiKey);
  const texts = {
    id: keyIdOf(hash),
    hash,
    account: 'old',
    name: 'old',
    created: new Date().toISOString(),
    limits: '{}',
  };
  const item = Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, { S: text }]));
  await client.send(new PutItemCommand({ TableName: 'keys', Item: { ...item, disabled: { BOOL: false } } }));
  const before = await accounts.get('old');

  await keys.list();
  const listed = await keys.listOf('old');
  await accounts.update('old', { disabled: true });

  expect(before).toBeUndefined();
  expect(listed.map(({ account }) => account)).toEqual(['old']);
  expect(await keys.find(apiKey)).toBeUndefined();
});
