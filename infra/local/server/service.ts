import { once } from 'node:events';
import { constants, copyFile, stat } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { launcherIn } from '../../../functions/engines/worker/linux/launcher.ts';
import { findSandboxGaps, isIncomplete } from '../../../functions/engines/worker/sandbox.ts';
import type { KeyFinder } from '../../../functions/platform/keys/keys.ts';
import type { Limiter } from '../../../functions/platform/limits/limits.ts';
import { createDiskStorage, type DiskStorage } from '../../../functions/platform/local/disk-storage.ts';
import { createInProcessInvoke, limitInvocations } from '../../../functions/platform/local/invoke.ts';
import type { Usage } from '../../../functions/platform/usage/usage.ts';
import { createCoalescer } from '../../../functions/router/coalesce.ts';
import { route } from '../../../functions/router/route.ts';
import { afterReply } from '../../../functions/shared/conversion/after-reply.ts';
import { createResolver } from '../../../functions/shared/egress/dns/resolver.ts';
import { createEgress } from '../../../functions/shared/egress/guard.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';
import { createFairQueue } from '../../../functions/shared/fair-queue.ts';
import type { Log } from '../../../functions/shared/log.ts';
import { sandboxSetting } from '../../../functions/shared/settings/sandbox.ts';
import { createDecoder } from '../../../functions/shared/source/decode/decoder.ts';
import { createDownload } from '../../../functions/shared/source/download.ts';
import { sourceTooLarge } from '../../../functions/shared/source/too-large.ts';
import { type Download, LOCAL_LAYERS } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { readVersion } from '../../version.ts';
import { reportLayerAge } from '../operation/layer-age.ts';
import { createMetrics, serveMetrics } from '../operation/metrics.ts';
import type { Settings } from '../settings.ts';
import { CODE } from './code.ts';
import { collectBuffersEarly } from './collect-buffers.ts';
import { callersPerConversion, divideDescriptors } from './descriptors.ts';
import { loadEngines } from './engines.ts';
import { FILES_PATH, readSignedUrl } from './http/files.ts';
import { readSecret } from './http/secret.ts';
import { createHttpServer } from './http/server.ts';
import { limitDownloads } from './limit-downloads.ts';
import { sweepRegularly } from './sweep.ts';
import { makeTemporary, removeTemporary } from './temporary.ts';

export interface Service {
  readonly port: number;
  /** Port of the metrics, if they are on. */
  readonly metricsPort?: number | undefined;
  /** Finishes running conversions, then ends every engine. */
  close(): Promise<void>;
}

interface Dependencies {
  readonly keys: KeyFinder;
  readonly limiter: Limiter;
  readonly usage: Usage;
  readonly layers: string;
  readonly log: Log;
}

/**
 * Downloads of one account at the same time, for each conversion that a tool runs at once. Servers that send as fast as they
 * can keep this process busy.
 */
const DOWNLOADS = 4;
/**
 * Results that are copied at the same time because they are the source of another request, and those of one account. Each takes one
 * of the four threads that every access to a file needs.
 */
const COPIES = { total: 2, perAccount: 1 };
const CLOSING_INTERVAL = 50;
/** Seconds. */
const DEFAULT_STOP_TIME = 60;
/** Milliseconds that clients get to read their responses when the service stops. */
const READING_TIME = 10_000;

/** Starts the server for one machine, with router, tools and storage. */
export async function startService(
  settings: Settings,
  { keys, limiter, usage, layers, log }: Dependencies,
): Promise<Service> {
  collectBuffersEarly();
  const { limits, urlLifetime, size, queue, accountUrl, supportUrl } = settings;
  const egress = createEgress({
    exceptions: settings.allowSources,
    ownHosts: settings.ownHosts,
    resolve: createResolver({ servers: settings.dnsServers }),
  });
  const storage = createDiskStorage({
    directory: join(settings.dataDirectory, 'results'),
    secret: readSecret(join(settings.dataDirectory, 'address-secret')),
    urlLifetime,
    ...(settings.accountBytes !== undefined && { accountBytes: settings.accountBytes }),
  });
  await storage.load();
  const temporary = await makeTemporary(tmpdir());
  const sandbox = sandboxSetting('required');
  const launcher = launcherIn(layers);
  const decoder = createDecoder({ layers, code: CODE, temporary, launcher, size, sandbox });
  const download = ownResultsFirst(
    storage,
    limitDownloads(DOWNLOADS * size, createDownload(egress, decoder.decode)),
  );
  reportLayerAge(layers, LOCAL_LAYERS, log);
  const gaps = findSandboxGaps(layers);
  if (isIncomplete(gaps)) log('sandbox incomplete', { ...gaps, mode: sandbox }, 'warn');
  const version = readVersion((layer) => join(layers, layer));
  const metrics = createMetrics(Object.keys(tools), {
    version: version.version,
    commit: version.commit,
    ...version.engines,
  });
  const engineDependencies = {
    layers,
    code: CODE,
    temporary,
    launcher,
    size,
    egress,
    sandbox,
    download,
    put: storage.put,
    log,
    afterReply,
  };
  const engines = await loadEngines(
    Object.values(tools),
    { ...engineDependencies, conversions: metrics },
    metrics.workersOf,
  );
  const invoke = limitInvocations(createInProcessInvoke(engines.handlers), queue);

  const descriptors = divideDescriptors({ workers: 3 * size * Object.keys(tools).length, queue });
  if (descriptors.low) log('few file descriptors', { ...descriptors }, 'warn');
  let isStopping = false;
  const common = {
    keys,
    limiter,
    usage,
    defaultLimits: settings.keyLimits,
    demo: settings.demo,
    version,
    health: engines.health,
    invoke,
    limits,
    log,
    afterReply,
    refusal: () => (isStopping ? stoppingError() : undefined),
    tools: Object.values(tools),
    coalesce: createCoalescer({ maxCallers: callersPerConversion(descriptors.connections, queue) }),
    contact: { accountUrl, supportUrl },
  };
  let requests = 0;
  const { server, connections } = createHttpServer({
    publicUrl: settings.publicUrl,
    storage,
    connections: descriptors.connections,
    texts: new Map([
      [
        '/account',
        'Ask the operator of this service for a key. Operators create one with `npm run keys -- create`.\n',
      ],
      ['/support', 'Ask the operator of this service.\n'],
    ]),
    route: async (request, base, signal) => {
      const results = storage.at(base + FILES_PATH.slice(0, -1));
      requests += 1;
      try {
        return await route(request, { ...common, storage: results }, signal);
      } finally {
        requests -= 1;
      }
    },
  });
  const metricsServer =
    settings.metricsPort === undefined ? undefined : await serveMetrics(metrics, settings.metricsPort);
  server.listen(settings.port, settings.host);
  await once(server, 'listening');
  await engines.warm();

  const stopSweeping = sweepRegularly(storage, log);

  return {
    port: (server.address() as AddressInfo).port,
    metricsPort: metricsServer?.port,
    async close() {
      // New calls get 503 while those in progress finish, until the grace period ends.
      isStopping = true;
      stopSweeping();
      const end = Date.now() + 1000 * (settings.stopTime ?? DEFAULT_STOP_TIME);
      while (requests > 0 && Date.now() < end) await setTimeout(CLOSING_INTERVAL);
      if (requests > 0) log('stopped with conversions in progress', { requests }, 'warn');
      const closed = once(server, 'close');
      server.close();
      if (requests > 0) server.closeAllConnections();
      let waited = 0;
      const closing = setInterval(() => {
        connections.closeIdle();
        // Conversions end at their deadline. Clients that read slowly get a few more seconds.
        waited = requests === 0 ? waited + CLOSING_INTERVAL : 0;
        if (waited > READING_TIME) server.closeAllConnections();
      }, CLOSING_INTERVAL);
      await closed;
      clearInterval(closing);
      metricsServer?.close();
      await Promise.all([engines.close(), decoder.close()]);
      await removeTemporary(temporary);
    },
  };
}

function stoppingError(): ConversionError {
  return new ConversionError('OVERLOADED', 'The service is stopping. Retry in 5 seconds.', { retryAfter: 5 });
}

/**
 * Reads a result of this server from disk when it is the source of another request, so that no private address must be
 * allowed.
 */
function ownResultsFirst(storage: DiskStorage, download: Download): Download {
  const copies = createFairQueue(COPIES);
  return async (url, options) => {
    const signed = readSignedUrl(new URL(url));
    const result = signed && (await storage.open(signed));
    if (!signed || result?.status !== 200) return download(url, options);
    const path = join(options.directory, 'source');
    const { size } = await stat(result.path);
    if (size > options.limits.sourceBytes) throw sourceTooLarge(options.limits.sourceBytes);
    // Not a hard link: a worker could change the stored result.
    const copy = () => copyFile(result.path, path, constants.COPYFILE_FICLONE);
    await copies.run(options.account, copy, options.signal);
    return { path, name: basename(signed.objectKey), contentType: '', bytes: size };
  };
}
