// Manages API keys: `npm run keys -- help`. Uses the database in DATA_DIR, or with --table a deployed DynamoDB table.
import * as tools from '../../functions/tools.ts';
import { UsageError } from './arguments.ts';
import { HELP, readCommand } from './commands.ts';
import { openStores } from './stores.ts';

try {
  const command = readCommand(process.argv.slice(2), Object.keys(tools));
  if (!command) process.stdout.write(HELP);
  else {
    const stores = await openStores(command);
    process.stdout.write(await command.run(stores));
    stores.close();
  }
} catch (thrown) {
  const error = thrown as Error;
  process.stderr.write(`${error.message}\n`);
  if (thrown instanceof UsageError) process.stderr.write(`Run 'npm run keys -- help' for all commands.\n`);
  process.exitCode = thrown instanceof UsageError ? 2 : 1;
}
