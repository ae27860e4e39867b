import { createDynamoRecords } from '../../../../functions/platform/aws/records.ts';
import { startDynalite } from '../../../aws-servers/dynalite.ts';
import { describeRecords } from '../records/contract.ts';

describeRecords('DynamoDB', async () => {
  const { client, close } = await startDynalite('keys');
  return { records: createDynamoRecords({ client, table: 'keys' }), close };
});
