import { setTimeout } from 'node:timers/promises';
import { ScanCommand } from '@aws-sdk/client-dynamodb';
import { createDynamoTable } from '../../../../functions/platform/aws/table.ts';
import { createStores } from '../../../../functions/platform/stores.ts';
import { startDynalite } from '../../../aws-servers/dynalite.ts';
import { describeAccounts } from '../accounts.contract.ts';
import { describeIdempotency } from '../idempotency.contract.ts';
import { describeKeys } from '../keys.contract.ts';
import { describeLimiter } from '../limits.contract.ts';
import { describeRecords } from '../records.contract.ts';
import { describeUsage } from '../usage.contract.ts';

async function open() {
  const { client, close } = await startDynalite('keys');
  const table = createDynamoTable({ client, table: 'keys' });
  const stores = createStores(table, ['pdftools', 'html2pdf']);
  return {
    ...stores,
    table,
    others: createStores(createDynamoTable({ client, table: 'keys' }), []).keys,
    dump: async () => JSON.stringify((await client.send(new ScanCommand({ TableName: 'keys' }))).Items),
    wait: setTimeout,
    close,
  };
}

describeKeys('DynamoDB', open);
describeAccounts('DynamoDB', open);
describeLimiter('DynamoDB', open);
describeRecords('DynamoDB', open);
describeUsage('DynamoDB', open);
describeIdempotency('DynamoDB', open);
