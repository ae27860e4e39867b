// Restores the key table under a new name: `npm run restore -- TABLE NEW_TABLE [--at 2026-11-29T12:00:00Z] [--region REGION]`.
// For a drill, delete the new table afterwards. To use it, set `keyTable` in the settings to its name, and deploy.
import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { regionOption } from '../outputs.ts';
import { restoreTable } from './restore.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { at: { type: 'string' }, region: { type: 'string' } },
});
const [from, to] = positionals;
const at = values.at === undefined ? undefined : new Date(values.at);
if (!from || !to || Number.isNaN(at?.getTime()))
  throw new Error('Use: npm run restore -- TABLE NEW_TABLE [--at 2026-11-29T12:00:00Z] [--region REGION]');
const client = new DynamoDBClient(regionOption(values.region));
await restoreTable(client, { from, to, at }, (text) => process.stdout.write(`${text}\n`));
