// The one-machine deployment in a process of its own: told by its environment, ends with its parent.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createFileKeys, withKeys } from '../../functions/shared/keys/file.ts';
import { jsonLog } from '../../functions/shared/log.ts';
import { startService } from '../../infra/local/server/service.ts';
import { readSettings } from '../../infra/local/settings.ts';

const settings = readSettings();
const keys = createFileKeys(join(settings.dataDirectory, 'keys.json'));
const service = await startService(settings, {
  keys: withKeys(keys, settings.apiKey === undefined ? [] : [settings.apiKey]),
  layers: fileURLToPath(new URL('../../dist/layers', import.meta.url)),
  log: jsonLog((line) => process.stderr.write(`${line}\n`)),
});
process.once('disconnect', async () => {
  await service.close();
  process.exit();
});
process.send!(service.port);
