// Makes an API key in a deployed key table and shows it this once: `npm run key:aws -- --table NAME [--region REGION] [--days 90]`,
// or ends one: `… --revoke KEY`. Needs credentials that may write the table.
import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoKeys } from '../../functions/shared/keys/dynamodb.ts';

const DAY = 24 * 3600 * 1000;

const { values } = parseArgs({
  options: {
    table: { type: 'string' },
    region: { type: 'string' },
    days: { type: 'string' },
    revoke: { type: 'string' },
  },
});
if (values.table === undefined) throw new Error('Name the table: --table NAME, as the stack prints it.');

const client = new DynamoDBClient(values.region === undefined ? {} : { region: values.region });
const keys = createDynamoKeys({ client, table: values.table });
if (values.revoke === undefined) {
  const expires = values.days === undefined ? {} : { expires: Date.now() + Number(values.days) * DAY };
  process.stdout.write(`${await keys.create(expires)}\n`);
} else {
  await keys.revoke(values.revoke);
  process.stdout.write('The key is revoked.\n');
}
