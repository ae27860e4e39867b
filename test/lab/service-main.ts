// The one-machine service in its own process, which exits with its parent. Configured by its environment, as by an operator, and by
// variables of tests: `TEST_KEYS` for further keys, `TEST_WARM` to start engines first, `TEST_SAMPLES` to serve the samples of the site,
// `TEST_LAYERS` for other engines, and `TEST_KEEP_RUNNING` to go on after a fault of ours, as in production.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { withKeys } from '../../functions/platform/keys.ts';
import { createLog } from '../../functions/shared/log.ts';
import { textSetting } from '../../functions/shared/settings/environment.ts';
import { keepRunning } from '../../infra/local/operation/upkeep.ts';
import { serveSamples } from '../../infra/local/self-check/samples.ts';
import { startService } from '../../infra/local/server/service.ts';
import { readSettings } from '../../infra/local/settings.ts';
import { openStores } from '../../infra/local/stores.ts';
import { LAYERS } from './engine.ts';
import type { Steps } from './service.ts';

const given = readSettings();
const stores = openStores(given.dataDirectory);
const samples = textSetting('TEST_SAMPLES', '') ? await serveSamples() : undefined;
const settings = samples ? { ...given, allowSources: [...given.allowSources, samples.host] } : given;
const keys = [
  ...(settings.apiKey === undefined ? [] : [{ apiKey: settings.apiKey, name: 'API_KEY' }]),
  ...textSetting('TEST_KEYS', '')
    .split(',')
    .filter(Boolean)
    .map((apiKey, index) => ({ apiKey, name: `account-${index}` })),
];
const write = createLog((line) => process.stderr.write(`${line}\n`), settings.log);
/** Recorded from the first time that they are asked for. */
let conversions: Steps[] | undefined;

const service = await startService(settings, {
  ...stores,
  keys: withKeys(stores.keys, keys),
  layers: textSetting('TEST_LAYERS', LAYERS),
  ...(samples && { samples: samples.host }),
  siteStores: stores,
  ...(textSetting('TEST_WARM', '') ? {} : { warm: [] }),
  log: (event, facts, level) => {
    if (event === 'converted') conversions?.push(facts as unknown as Steps);
    write(event, facts, level);
  },
});
if (textSetting('TEST_KEEP_RUNNING', '')) keepRunning(write);

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;
process.on('message', (message) => {
  if (message === 'steps') {
    process.send!({ steps: conversions ?? [] });
    conversions = [];
  } else {
    collectGarbage();
    const { heapUsed, external } = process.memoryUsage();
    process.send!({ heap: (heapUsed + external) / 2 ** 20 });
  }
});
const stop = async () => {
  await service.close();
  process.exit();
};
process.once('SIGTERM', stop).once('disconnect', stop);
process.send!({ port: service.port });
