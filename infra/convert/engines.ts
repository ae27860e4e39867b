import { createReadStream, createWriteStream } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createApiKey, withKeys } from '../../functions/platform/keys.ts';
import { createLog } from '../../functions/shared/log.ts';
import { composeService } from '../local/server/compose.ts';
import { readSignedUrl } from '../local/server/http/signed-url.ts';
import { makeTemporary, removeTemporary } from '../local/server/temporary.ts';
import { readSettings } from '../local/settings.ts';
import { openStores } from '../local/stores.ts';
import type { Service } from './converter.ts';

/** Base of the result URLs. No request is sent to it. */
const BASE = 'http://localhost';
const NOT_SERVED = { version: '', commit: '', engines: {}, built: '' };

/**
 * Runs the engines on this machine, without a server. The server's settings apply, except those of accounts. Starts the engines of
 * `tools` at once, and each of the others on its first conversion.
 */
export async function localEngines(
  parent: string,
  jobs: number,
  { tools, downloads }: { readonly tools: readonly string[]; readonly downloads: boolean },
): Promise<Service> {
  const { router, ...settings } = readSettings();
  const directory = await makeTemporary(parent);
  const stores = openStores(directory);
  const apiKey = createApiKey();
  const keys = withKeys(stores.keys, [{ apiKey, name: 'convert' }]);
  const account = (await keys.find(apiKey))!.account;
  const composition = await composeService(
    {
      ...settings,
      router: { ...router, defaultLimits: {}, demo: undefined },
      dataDirectory: directory,
      size: jobs,
      accountBytes: 0,
    },
    {
      ...stores,
      keys,
      layers: join(import.meta.dirname, '../../dist/layers'),
      log: createLog((line) => process.stderr.write(`${line}\n`), { format: 'pretty', level: 'error' }),
      singleAccount: true,
      version: NOT_SERVED,
      warm: tools,
    },
  );
  // The first conversion waits for whatever has not started by then.
  void composition.warm({ downloads });
  return {
    async send({ query, headers, body }, signal) {
      const { body: content, headers: added } = new Response(body ?? null);
      const all = new Headers({ ...Object.fromEntries(added), ...headers, 'X-Api-Key': apiKey });
      const request = {
        method: body ? 'POST' : 'GET',
        path: '/api/',
        query,
        header: (name: string) => all.get(name) ?? undefined,
        ...(content && { body: Readable.fromWeb(content) }),
      };
      const { status, body: text, headers: own } = await composition.route(request, BASE, signal);
      const retryAfter = own['Retry-After'];
      return {
        status,
        body: String(text),
        ...(retryAfter !== undefined && { retryAfter: Number(retryAfter) }),
      };
    },
    async save(url, path) {
      const signed = readSignedUrl(new URL(url));
      const opened = signed && (await composition.storage.open(signed));
      if (opened?.status !== 200) throw new Error('The result has been deleted.');
      // A copy would get the mode of the result.
      await pipeline(createReadStream(opened.path), createWriteStream(path));
      await composition.storage.remove({ objectKey: signed!.objectKey, account });
    },
    async close() {
      await composition.close();
      stores.close();
      await removeTemporary(directory);
    },
  };
}
