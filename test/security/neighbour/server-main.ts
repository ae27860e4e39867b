// Runs the one-machine service in its own process, as `npm start` does but without the self-check. Prints its port.
import { createLog } from '../../../functions/shared/log.ts';
import { openAccounts } from '../../../infra/local/accounts.ts';
import { keepRunning } from '../../../infra/local/keep-running.ts';
import { startService } from '../../../infra/local/server/service.ts';
import { readSettings } from '../../../infra/local/settings.ts';
import { LAYERS } from '../deployment/one-machine.ts';

const settings = readSettings();
const accounts = openAccounts(settings.dataDirectory);
const log = createLog((line) => process.stderr.write(`${line}\n`), settings.log);
const service = await startService(settings, { ...accounts, layers: LAYERS, log });
keepRunning(log);
process.once('SIGTERM', async () => {
  await service.close();
  process.exit(0);
});
process.stdout.write(`${service.port}\n`);
