// Runs the one-machine service in its own process, as `npm start` does but without the self-check. Prints its port.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { createLog } from '../../../functions/shared/log.ts';
import { textSetting } from '../../../functions/shared/settings/environment.ts';
import { keepRunning } from '../../../infra/local/operation/upkeep.ts';
import { startService } from '../../../infra/local/server/service.ts';
import { readSettings } from '../../../infra/local/settings.ts';
import { openStores } from '../../../infra/local/stores.ts';
import { LAYERS } from '../deployment/layers.ts';

const settings = readSettings();
const stores = openStores(settings.dataDirectory);
const log = createLog((line) => process.stderr.write(`${line}\n`), settings.log);
const service = await startService(settings, {
  ...stores,
  layers: LAYERS,
  log,
  ...(textSetting('WARM', 'yes') === 'no' && { warm: [] }),
});
keepRunning(log);
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
// Any message requests the MiB in use after garbage collection.
process.on('message', () => {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  process.send!((heapUsed + external) / 2 ** 20);
});
// The row was killed.
process.once('disconnect', () => process.exit(1));
process.once('SIGTERM', async () => {
  await service.close();
  process.exit(0);
});
process.stdout.write(`${service.port}\n`);
