// Manages API keys: `npm run keys -- help`. Uses the database in DATA_DIR or, with --table, a deployed DynamoDB
// table.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { createDynamoAccounts } from '../../functions/platform/aws/accounts.ts';
import { createDynamoAudit } from '../../functions/platform/aws/audit.ts';
import { createDynamoKeys } from '../../functions/platform/aws/keys.ts';
import { createDynamoRecords } from '../../functions/platform/aws/records.ts';
import { createDynamoUsage } from '../../functions/platform/aws/usage.ts';
import { defaultSizes, type Sizes } from '../../functions/platform/usage/prices.ts';
import { createPricing } from '../../functions/platform/usage/report.ts';
import { SITE_PATH } from '../../functions/shared/settings/aws.ts';
import { originSetting } from '../../functions/shared/settings/environment.ts';
import * as tools from '../../functions/tools.ts';
import { OUTPUTS_FILE, readOutputs } from '../aws/outputs.ts';
import { openAccounts } from '../local/accounts.ts';
import { readSettings } from '../local/settings.ts';
import { type Command, HELP, readCommand, UsageError } from './command.ts';
import { runCommand, type Stores } from './run.ts';

try {
  const command = readCommand(process.argv.slice(2), Object.keys(tools));
  if (command.name === 'help') process.stdout.write(HELP);
  else {
    const stores = await openStores(command);
    process.stdout.write(await runCommand(command, stores));
    stores.close();
  }
} catch (thrown) {
  const error = thrown as Error;
  process.stderr.write(`${error.message}\n`);
  if (thrown instanceof UsageError) process.stderr.write(`Run 'npm run keys -- help' for all commands.\n`);
  process.exitCode = thrown instanceof UsageError ? 2 : 1;
}

async function openStores({
  name,
  table,
  region,
}: Exclude<Command, { name: 'help' }>): Promise<Stores & { close(): void }> {
  if (table === undefined) {
    const { dataDirectory, origin } = readSettings();
    // Only commands that add a key or an account may create a database, so that a wrong DATA_DIR does not look like a
    // server without keys.
    if (
      name !== 'create' &&
      name !== 'import' &&
      name !== 'invite' &&
      !existsSync(join(dataDirectory, 'docmill.db'))
    ) {
      throw new Error(
        `There is no database in ${dataDirectory}. Set DATA_DIR to the server's data directory.`,
      );
    }
    return { ...openAccounts(dataDirectory), origin };
  }
  const client = new DynamoDBClient(region === undefined ? {} : { region });
  return {
    keys: createDynamoKeys({ client, table }),
    usage: createDynamoUsage({ client, table, tools: Object.keys(tools) }),
    records: createDynamoRecords({ client, table }),
    accounts: createDynamoAccounts({ client, table }),
    audit: createDynamoAudit({ client, table }),
    ...(await readDeployment(table)),
    close: () => client.destroy(),
  };
}

/**
 * Returns the URL of the site, below PUBLIC_URL if it is set, and the prices of the stack with this table. For a
 * stack that was not deployed from this checkout, default sizes are assumed.
 */
async function readDeployment(table: string): Promise<Pick<Stores, 'origin' | 'priceRows'>> {
  const stacks = Object.values(await readOutputs(OUTPUTS_FILE));
  const outputs = stacks.find(({ KeyTable }) => KeyTable === table);
  const publicUrl = originSetting('PUBLIC_URL');
  const sizes = outputs?.Sizes ? (JSON.parse(outputs.Sizes) as Sizes) : defaultSizes(Object.values(tools));
  return {
    origin: publicUrl === undefined ? (outputs?.SiteUrl ?? SITE_PATH) : `${publicUrl}${SITE_PATH}`,
    priceRows: createPricing(sizes),
  };
}
