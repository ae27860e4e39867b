import { createDynamoUsage } from '../../../../functions/platform/aws/usage.ts';
import { startDynalite } from '../../../aws-servers/dynalite.ts';
import { describeUsage } from '../usage/contract.ts';

describeUsage('DynamoDB', async () => {
  const { client, close } = await startDynalite('keys');
  return { usage: createDynamoUsage({ client, table: 'keys', tools: ['pdftools', 'html2pdf'] }), close };
});
