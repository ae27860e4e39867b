import { constants, copyFile, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import type { BucketClient } from '../../../functions/buckets/buckets.ts';
import { DOWNLOAD_NICE, launcherIn } from '../../../functions/engines/worker/linux/limits.ts';
import { EngineState, observeAll } from '../../../functions/engines/worker/observer.ts';
import { findSandboxGaps, isIncomplete } from '../../../functions/engines/worker/sandbox.ts';
import { createLocalQueue } from '../../../functions/jobs/local-queue.ts';
import { createDeliveries } from '../../../functions/jobs/webhooks/deliveries.ts';
import type { Idempotency } from '../../../functions/platform/idempotency.ts';
import { afterReply } from '../../../functions/platform/invoke.ts';
import type { KeyFinder } from '../../../functions/platform/keys.ts';
import type { Limiter } from '../../../functions/platform/limits.ts';
import { defaultShare, FreeSpace } from '../../../functions/platform/local/disk-space.ts';
import { createDiskStorage, type DiskStorage } from '../../../functions/platform/local/disk-storage.ts';
import { collectBuffersEarly } from '../../../functions/platform/local/download/collect-buffers.ts';
import { Downloaders } from '../../../functions/platform/local/download/downloaders.ts';
import { createLocalInvoke } from '../../../functions/platform/local/invoke.ts';
import { createMemoryCache } from '../../../functions/platform/result-cache.ts';
import { UPLOAD_PREFIX, uploadGoneError } from '../../../functions/platform/storage.ts';
import type { Table } from '../../../functions/platform/table.ts';
import type { Failures, Usage } from '../../../functions/platform/usage.ts';
import { createKeylessLimit } from '../../../functions/router/admission/admit.ts';
import { createTraces } from '../../../functions/router/call.ts';
import { FILES_PATH, type HttpRequest } from '../../../functions/router/http.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { matchExceptions } from '../../../functions/shared/egress/exceptions.ts';
import { createEgressGuard } from '../../../functions/shared/egress/guard.ts';
import { sourceTooLargeError, stoppingError } from '../../../functions/shared/errors.ts';
import { createFairQueue } from '../../../functions/shared/fair-queue.ts';
import { describe, type Log } from '../../../functions/shared/log.ts';
import { readHead } from '../../../functions/shared/source/file.ts';
import type { ReadFacts } from '../../../functions/shared/source/file-kind.ts';
import { within } from '../../../functions/shared/time.ts';
import { type Download, LOCAL_LAYERS } from '../../../functions/shared/tool.ts';
import { WarmWorkers } from '../../../functions/shared/warm-workers.ts';
import type { Operation } from '../../../functions/site/operator/overview.ts';
import * as tools from '../../../functions/tools.ts';
import type { Version } from '../../version.ts';
import { pathsIn } from '../operation/lock.ts';
import type { Metrics } from '../operation/metrics.ts';
import { layerAge, reportLayerAge } from '../operation/upkeep.ts';
import type { Settings } from '../settings.ts';
import type { Stores } from '../stores.ts';
import { callersPerConversion, divideDescriptors } from './descriptors.ts';
import { loadEngines } from './engines.ts';
import { createCallers } from './http/callers.ts';
import { readSecret, readSignedUrl } from './http/signed-url.ts';
import { limitDownloads } from './limit-downloads.ts';
import { CODE, makeTemporary, removeTemporary } from './temporary.ts';

export type Composition = Awaited<ReturnType<typeof composeService>>;

/** The stores that the site reads and changes. */
export type SiteStores = Omit<Stores, 'limiter' | 'usage' | 'results' | 'keepSpace' | 'close'>;

export interface Dependencies {
  readonly keys: KeyFinder;
  readonly limiter: Limiter;
  readonly usage: Usage;
  /** Records the results of each account. */
  readonly results: Table;
  readonly layers: string;
  readonly version: Version;
  /** Absent if nobody reads them. */
  readonly metrics?: Metrics;
  readonly log: Log;
  /** Whether all conversions belong to one account, so that no spare is kept for others. */
  readonly singleAccount?: boolean;
  /** Recent failures of each account. None are kept if absent. */
  readonly failures?: Failures;
  readonly idempotency?: Idempotency;
  /** Stores of accounts. If absent, nobody can sign in, conversions cannot be jobs, and no bucket can be used. */
  readonly siteStores?: SiteStores;
  /** The `host:port` that serves the bundled samples. */
  readonly samples?: string;
  /** Names of the tools whose engines start before the first conversion. Defaults to all. */
  readonly warm?: readonly string[];
}

/**
 * Maximum concurrent downloads per account, as a multiple of a tool's concurrency. Servers that send as fast as they
 * can keep a process busy.
 */
const DOWNLOADS = 4;
/**
 * Maximum concurrent copies of stored results that are sources, in total and per account. Each blocks one of libuv's
 * four threads.
 */
const COPIES = { total: 2, perAccount: 1 };
/** The requests of one account that wait for jobs have at most this fraction of the connections. */
const WAITERS = 8;
/** Maximum milliseconds for sending traces. */
const TRACE_TIME = 5000;
/** Timeout for aborted conversions after their engines have exited, in milliseconds. */
const ABORT_TIME = 5000;
/** Maximum requests without a key per minute and IP address, unless the hourly limit of demo mode is higher. */
const KEYLESS_PER_MINUTE = 60;

/** Composes the router with all tools and the storage of one machine, without a server. */
export async function composeService(
  settings: Settings,
  {
    keys,
    limiter,
    usage,
    results,
    failures,
    idempotency,
    siteStores,
    samples,
    layers,
    version,
    metrics,
    log,
    singleAccount,
    warm,
  }: Dependencies,
) {
  collectBuffersEarly();
  const { conversionLimits: limits, urlLifetime, size, queue } = settings;
  const { dataDirectory, accountBytes = defaultShare(dataDirectory) } = settings;
  const paths = pathsIn(dataDirectory);
  const space = new FreeSpace({ data: dataDirectory, temporary: tmpdir() });
  const storage = createDiskStorage({
    directory: paths.results,
    secret: readSecret(paths.secret),
    urlLifetime,
    accountBytes,
    space,
    table: results,
  });
  await storage.load();
  const temporary = await makeTemporary(tmpdir());
  const { sandbox } = settings;
  const launcher = launcherIn(layers);
  reportLayerAge(layers, LOCAL_LAYERS, log);
  const gaps = findSandboxGaps(layers);
  if (isIncomplete(gaps)) log('sandbox incomplete', { ...gaps, mode: sandbox }, 'warn');
  metrics?.watchDisk(space);
  metrics?.watchAge(() => layerAge(layers, LOCAL_LAYERS));
  const workersOf = (tool: string) => metrics?.workersOf(tool) ?? {};
  const downloadState = new EngineState();
  const maxDownloaders = 2 * size + 4;
  const downloaders = new Downloaders(
    {
      exceptions: settings.allowSources,
      ownHosts: settings.ownHosts,
      dnsServers: settings.dnsServers,
      layers,
      code: CODE,
      launcher,
      size,
      sandbox,
    },
    {
      temporary,
      launcher: launcherIn(layers, DOWNLOAD_NICE),
      max: maxDownloaders,
      log,
      observer: observeAll(downloadState, workersOf('download')),
    },
  );
  const egress = createEgressGuard({
    exceptions: settings.allowSources,
    ownHosts: settings.ownHosts,
    resolve: downloaders.resolve,
  });
  const download = ownResultsFirst(storage, limitDownloads(DOWNLOADS * size, downloaders.download));
  // A single account has no spare that could take over when its workers rest.
  const warmWorkers = new WarmWorkers(settings.warmMemory, { rests: !singleAccount });
  const engineDependencies = {
    layers,
    code: CODE,
    temporary,
    launcher,
    size,
    egress,
    sandbox,
    locale: settings.locale,
    signers: join(dataDirectory, 'signers'),
    download,
    readValidators: limitDownloads(DOWNLOADS * size, downloaders.validators),
    readFacts: ownFactsFirst(storage, limitDownloads(DOWNLOADS * size, downloaders.facts)),
    put: storage.put,
    log,
    afterReply,
    singleAccount,
    warm: warmWorkers,
  };
  const engines = await loadEngines(
    Object.values(tools),
    { ...engineDependencies, ...(metrics && { conversions: metrics }) },
    workersOf,
  );
  const { invoke, ended } = createLocalInvoke(engines.handlers, { max: queue });

  const descriptors = divideDescriptors({ workers: warmWorkers.max + maxDownloaders, queue });
  if (descriptors.low) log('few file descriptors', { ...descriptors }, 'warn');
  let [isStopping, isClosed, requests] = [false, false, 0];
  const operation: Operation = {
    version,
    health: engines.health,
    machine: () => ({ downloads: downloadState.status, disk: space.status }),
    work: async () => metrics?.work() ?? {},
    storage: async () => ({
      ...(await storage.inUse()),
      ...(siteStores && { database: await databaseSize(siteStores.file) }),
      ...space.free(),
    }),
  };
  const { collector } = settings;
  const traces =
    collector &&
    createTraces({
      endpoint: collector.endpoint,
      headers: async () => collector.headers,
      timeout: TRACE_TIME,
      log,
    });
  let bucketClient: Promise<BucketClient> | undefined;
  const openBuckets = () => {
    // The SDK would delay the start.
    bucketClient ??= import('../../../functions/buckets/s3.ts').then(({ createLocalClient }) =>
      createLocalClient(async (url) => (await openOwn(storage, url))!.path),
    );
    return bucketClient;
  };
  const callers = createCallers(keys);
  const common = {
    keys: callers.keys,
    limiter,
    usage,
    ...settings.router,
    keyless: createKeylessLimit(Math.max(KEYLESS_PER_MINUTE, settings.router.demo?.perAddress ?? 0)),
    ...operation,
    failures,
    idempotency,
    isDisabled: async (account: string) => (await siteStores?.accounts.get(account))?.disabled ?? false,
    invoke,
    limits,
    log,
    afterReply,
    refusal: () => (isStopping ? stoppingError() : undefined),
    tools: Object.values(tools),
    sampleUrl: samples === undefined ? undefined : (name: string) => `http://${samples}/${name}`,
    coalesce: createCoalescer({ maxCallers: callersPerConversion(descriptors.connections, queue) }),
    resultCache: createMemoryCache(),
    buckets: siteStores && { prefixes: siteStores.prefixes, client: openBuckets },
    traces,
  };

  const at = (origin: string, lifetime?: number) => ({
    ...common,
    storage: storage.at(origin + FILES_PATH.slice(0, -1), lifetime),
    uploads: storage.uploadsAt(`${origin}/api/uploads`),
  });
  const isException = matchExceptions(settings.allowSources);
  const queueOfJobs =
    siteStores &&
    createLocalQueue({
      jobs: siteStores.jobs,
      deliveries: createDeliveries(
        siteStores.jobs,
        {
          guard: egress,
          secrets: siteStores.webhookSecrets,
          tools: common.tools,
          storageAt: (origin) => at(origin).storage,
          isInsecureAllowed: ({ hostname, port }) => isException(hostname, Number(port || 80)),
        },
        log,
      ),
      at: (origin) => ({ ...at(origin), limits: { ...limits, conversionTime: settings.jobTime } }),
      total: settings.jobs,
      maxQueued: settings.maxQueuedJobs,
      maxWaiting: Math.max(1, Math.floor(descriptors.connections / WAITERS)),
      log,
    });
  if (queueOfJobs) metrics?.watchJobs(queueOfJobs);

  return {
    storage,
    /** The jobs of all accounts. */
    queue: queueOfJobs,
    /** State of the service, for its operator. */
    operation,
    /** Returns the caller whose requests take turns. */
    callerOf: callers.of,
    /** Maximum number of connections. */
    connections: descriptors.connections,
    /** Handles a request. `origin` is that of the URLs in the response. */
    async route(request: HttpRequest, origin: string, signal: AbortSignal) {
      requests += 1;
      try {
        // The page lists a member's results until they are deleted.
        const lifetime = request.member && settings.resultLife / 1000;
        const dependencies = { ...at(origin, lifetime), queue: queueOfJobs };
        const reply = await route({ ...request, origin }, dependencies, signal);
        const code = reply.headers['X-Error-Code'];
        if (code !== undefined) metrics?.refused(code);
        return reply;
      } finally {
        requests -= 1;
      }
    },
    /** Returns the number of requests in progress. */
    requests: () => requests,
    /** Starts the engines of `warm`. Each of the others starts on its first conversion. Downloads start unless no source is a URL. */
    async warm({ downloads = true } = {}) {
      const warmed =
        downloads &&
        downloaders
          .warm()
          .catch((thrown) => !isClosed && log('downloads not started', { cause: describe(thrown) }, 'error'));
      await Promise.all([engines.warm(warm), warmed]);
    },
    /** Rejects new requests. */
    refuse: () => {
      isStopping = true;
    },
    /** Kills every engine. */
    async close() {
      isClosed = true;
      const closed = engines.close().then(() => within(ABORT_TIME, ended()));
      await Promise.all([closed, downloaders.close(), traces?.flush()]);
      await removeTemporary(temporary);
    },
  };
}

/** Returns the bytes of the database including its write-ahead log. */
async function databaseSize(file: string): Promise<number> {
  const sizes = [file, `${file}-wal`].map((path) =>
    stat(path).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}

/**
 * Reads a result of this server from disk when it is the source of another request, so that no private IP address has
 * to be allowed.
 */
function ownResultsFirst(storage: DiskStorage, download: Download): Download {
  const copies = createFairQueue(COPIES);
  return async (url, options) => {
    const result = await openOwn(storage, url);
    if (!result) return download(url, options);
    const path = join(options.directory, 'source');
    const { size } = await stat(result.path);
    if (size > options.limits.sourceBytes) throw sourceTooLargeError(options.limits.sourceBytes);
    // A copy instead of a hard link, because a worker could change the stored result.
    const copy = () => copyFile(result.path, path, constants.COPYFILE_FICLONE);
    await copies.run(options.account, copy, options.signal);
    return { path, name: result.name, contentType: '', bytes: size };
  };
}

/** Reads the facts about a result or an upload of this server from disk. */
function ownFactsFirst(storage: DiskStorage, readFacts: ReadFacts): ReadFacts {
  return async (url, options) => {
    const result = await openOwn(storage, url);
    if (!result) return readFacts(url, options);
    return { head: await readHead(result.path), name: result.name, contentType: '' };
  };
}

/** Returns the stored file of this server that a URL names, or `undefined` for all other URLs. */
async function openOwn(storage: DiskStorage, url: string) {
  const parsed = URL.parse(url);
  const signed = parsed && readSignedUrl(parsed);
  const result = signed && (await storage.open(signed));
  if (signed?.objectKey.startsWith(UPLOAD_PREFIX) && result?.status === 404) throw uploadGoneError();
  if (!signed || result?.status !== 200) return undefined;
  return { path: result.path, name: basename(signed.objectKey) };
}
