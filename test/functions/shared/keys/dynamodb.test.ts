import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { createDynamoKeys } from '../../../../functions/shared/keys/dynamodb.ts';
import { startDynalite } from '../../../infra/aws/dynalite.ts';
import { describeKeys } from './contract.ts';

describeKeys('a DynamoDB table', async () => {
  const { client, close } = await startDynalite('keys');
  return {
    keys: createDynamoKeys({ client, table: 'keys' }),
    dump: async () => JSON.stringify((await client.send(new ScanCommand({ TableName: 'keys' }))).Items),
    close,
  };
});
