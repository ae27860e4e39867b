// The one-machine deployment in its own process, so that its memory and its startup can be measured.
import { fileURLToPath } from 'node:url';
import { createApiKey, withKeys } from '../../../functions/platform/keys.ts';
import { startService } from '../../../infra/local/server/service.ts';
import { readSettings } from '../../../infra/local/settings.ts';
import { openStores } from '../../../infra/local/stores.ts';
import { ACCOUNTS, type Steps } from './service.ts';

const [directory, sourceHost] = process.argv.slice(2) as [string, string];
const apiKeys = Array.from({ length: ACCOUNTS }, createApiKey);
const stores = openStores(directory);
const conversions: Steps[] = [];
const settings = readSettings();
const service = await startService(
  {
    ...settings,
    // A single account may use half of it, and one row makes 200 calls at once.
    queue: 1000,
    port: 0,
    host: '127.0.0.1',
    dataDirectory: directory,
    allowSources: [sourceHost],
    router: { ...settings.router, defaultLimits: {} },
  },
  {
    ...stores,
    keys: withKeys(
      stores.keys,
      apiKeys.map((apiKey, index) => ({ apiKey, name: `bench-${index}` })),
    ),
    layers: fileURLToPath(new URL('../../../dist/layers', import.meta.url)),
    log: (event, facts) => {
      if (event === 'converted') conversions.push(facts as unknown as Steps);
      else process.send!({ said: JSON.stringify({ event, ...facts }) });
    },
  },
);

process.on('message', async (message) => {
  if (message === 'steps') process.send!({ steps: conversions.splice(0) });
  if (message !== 'close') return;
  await service.close();
  process.disconnect();
});
process.once('disconnect', () => process.exit());
process.send!({ base: `http://127.0.0.1:${service.port}`, apiKeys });
