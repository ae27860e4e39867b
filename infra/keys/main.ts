// Manages API keys: `npm run keys -- help`. Without --table the database in DATA_DIR, with it a deployed DynamoDB table.
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoKeys } from '../../functions/shared/keys/dynamodb.ts';
import { createDynamoUsage } from '../../functions/shared/usage/dynamodb.ts';
import * as tools from '../../functions/tools.ts';
import { openAccounts } from '../local/accounts.ts';
import { readSettings } from '../local/settings.ts';
import { HELP, readCommand, UsageError } from './command.ts';
import { runCommand, type Stores } from './run.ts';

try {
  const command = readCommand(process.argv.slice(2), Object.keys(tools));
  if (command.name === 'help') process.stdout.write(HELP);
  else {
    const stores = openStores(command.table, command.region);
    process.stdout.write(await runCommand(command, stores, Object.values(tools)));
    stores.close();
  }
} catch (thrown) {
  const error = thrown as Error;
  process.stderr.write(`${error.message}\n`);
  if (thrown instanceof UsageError) process.stderr.write(`Run 'npm run keys -- help' for all commands.\n`);
  process.exitCode = thrown instanceof UsageError ? 2 : 1;
}

function openStores(table: string | undefined, region: string | undefined): Stores & { close(): void } {
  if (table === undefined) return openAccounts(readSettings().dataDirectory);
  const client = new DynamoDBClient(region === undefined ? {} : { region });
  return {
    keys: createDynamoKeys({ client, table }),
    usage: createDynamoUsage({ client, table, tools: Object.keys(tools) }),
    close: () => client.destroy(),
  };
}
