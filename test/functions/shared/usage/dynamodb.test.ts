import { createDynamoUsage } from '../../../../functions/shared/usage/dynamodb.ts';
import { startDynalite } from '../../../infra/aws/servers/dynalite.ts';
import { describeUsage } from './contract.ts';

describeUsage('DynamoDB', async () => {
  const { client, close } = await startDynalite('keys');
  return { usage: createDynamoUsage({ client, table: 'keys', tools: ['pdftools', 'html2pdf'] }), close };
});
