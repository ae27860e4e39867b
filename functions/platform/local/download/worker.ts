import { flushCompileCache } from 'node:module';
import { createDecoder } from '../../../engines/decode/decoder.ts';
import { serveConcurrently } from '../../../engines/worker/serve.ts';
import { createResolver } from '../../../shared/egress/dns/resolver.ts';
import { createEgressGuard } from '../../../shared/egress/guard.ts';
import { createDownload, createReadFacts, createReadValidators } from '../../../shared/source/download.ts';
import { collectBuffersEarly } from './collect-buffers.ts';
import type { DownloaderSettings, DownloadRequest, UrlRequest } from './downloaders.ts';

collectBuffersEarly();
const { exceptions, ownHosts, dnsServers, ...workers } = JSON.parse(process.argv[2]!) as DownloaderSettings;
const egress = createEgressGuard({ exceptions, ownHosts, resolve: createResolver({ servers: dnsServers }) });
// Its own directory, so that the workers and their files are removed with this process.
const decoder = createDecoder({ ...workers, temporary: process.cwd() });
const download = createDownload(egress, decoder.decode);
const readValidators = createReadValidators(egress);
const readFacts = createReadFacts(egress);

// This process gets killed, so it cannot write the cache on exit.
setImmediate(flushCompileCache);
await serveConcurrently<{ download: DownloadRequest; validators: UrlRequest; facts: UrlRequest }>({
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
});
