// The one-machine deployment in its own process, which exits with its parent. Configured by its environment.
import { fileURLToPath } from 'node:url';
import { withKeys } from '../../../functions/platform/keys.ts';
import { createLog } from '../../../functions/shared/log.ts';
import { textSetting } from '../../../functions/shared/settings/environment.ts';
import { serveSamples } from '../../../infra/local/self-check/samples.ts';
import { startService } from '../../../infra/local/server/service.ts';
import { readSettings } from '../../../infra/local/settings.ts';
import { openStores } from '../../../infra/local/stores.ts';

const settings = readSettings();
const stores = openStores(settings.dataDirectory);
const given = settings.apiKey === undefined ? [] : [{ apiKey: settings.apiKey, name: 'API_KEY' }];
const samples = await serveSamples();
const allowSources = [...settings.allowSources, samples.host];
const service = await startService(
  { ...settings, allowSources },
  {
    ...stores,
    keys: withKeys(stores.keys, given),
    layers: textSetting('TEST_LAYERS', fileURLToPath(new URL('../../../dist/layers', import.meta.url))),
    samples: samples.host,
    siteStores: stores,
    // Most tests use one or two tools.
    warm: [],
    log: createLog((line) => process.stderr.write(`${line}\n`)),
  },
);
process.once('disconnect', async () => {
  await service.close();
  process.exit();
});
process.send!(service.port);
