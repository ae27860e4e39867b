import { setTimeout } from 'node:timers/promises';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { createDynamoKeys } from '../../../../functions/platform/aws/keys.ts';
import { startDynalite } from '../../../aws-servers/dynalite.ts';
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
