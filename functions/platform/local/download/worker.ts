import { flushCompileCache } from 'node:module';
import { createDecoder } from '../../../engines/decode/decoder.ts';
import { serveConcurrently } from '../../../engines/worker/serve.ts';
import { createEgressGuard, MAX_IP_ADDRESSES } from '../../../shared/egress/guard.ts';
import { createResolver } from '../../../shared/egress/resolver.ts';
import { ConversionError } from '../../../shared/errors.ts';
import { createDownload, createReadFacts, createReadValidators } from '../../../shared/source/download.ts';
import { collectBuffersEarly } from './collect-buffers.ts';
import type { DownloaderSettings, DownloadRequest, ResolveRequest, UrlRequest } from './downloaders.ts';

collectBuffersEarly();
const { exceptions, ownHosts, dnsServers, ...workers } = JSON.parse(process.argv[2]!) as DownloaderSettings;
const resolve = createResolver({ servers: dnsServers });
const egress = createEgressGuard({ exceptions, ownHosts, resolve });
// Its own directory, so that the workers and their files are removed with this process.
const decoder = createDecoder({ ...workers, temporary: process.cwd() });
const download = createDownload(egress, decoder.decode);
const readValidators = createReadValidators(egress);
const readFacts = createReadFacts(egress);

// This process gets killed, so it cannot write the cache on exit.
setImmediate(flushCompileCache);
await serveConcurrently<{
  download: DownloadRequest;
  validators: UrlRequest;
  facts: UrlRequest;
  resolve: ResolveRequest;
}>({
  download: async ({ url, account, sourceBytes }, { directory, signal }) => {
    const { path: _, ...found } = await download(url, {
      directory,
      account,
      limits: { sourceBytes },
      signal,
    });
    return found;
  },
  validators: async ({ url, account }, { signal }) => ({
    validators: await readValidators(url, { account, signal }),
  }),
  facts: async ({ url, account }, { signal }) => ({ ...(await readFacts(url, { account, signal })) }),
  resolve: async ({ host }, { signal }) => {
    const found = await resolve(host, signal).catch((cause: unknown) => {
      throw new ConversionError('BLOCKED_ADDRESS', 'The host was not found.', { cause });
    });
    return { ipAddresses: [...new Set(found)].slice(0, MAX_IP_ADDRESSES) };
  },
});
