import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { createSmtp, type SendMail } from '../../../functions/platform/smtp.ts';
import { llmsText } from '../../../functions/router/reference.ts';
import { describe } from '../../../functions/shared/log.ts';
import { HOUR } from '../../../functions/shared/time.ts';
import { assetsOf } from '../../../functions/site/html.ts';
import { createSite, type Site } from '../../../functions/site/site.ts';
import * as tools from '../../../functions/tools.ts';
import { readVersion } from '../../version.ts';
import { createMetrics, type Metrics, serveMetrics } from '../operation/metrics.ts';
import { sweepRegularly } from '../operation/upkeep.ts';
import type { Settings } from '../settings.ts';
import { type Composition, composeService, type Dependencies } from './compose.ts';
import { createHttpServer } from './http/server.ts';

interface Service {
  readonly port: number;
  /** Port of the metrics, if they are on. */
  readonly metricsPort?: number | undefined;
  /** Finishes running conversions, then kills every engine. */
  close(): Promise<void>;
}

/** Pages for the URLs in the response to a missing key, if the site is off. */
const WITHOUT_SITE = [
  [
    '/account',
    'Ask the operator of this service for a key. Operators create one with `npm run keys -- create`.\n',
  ],
  ['/support', 'Ask the operator of this service.\n'],
] as const;

/** Interval between two checks for idle connections when the service stops, in milliseconds. */
const CLOSING_INTERVAL = 50;
/** How long clients may read their responses when the service stops, in milliseconds. */
const READING_TIME = 10_000;

/** How long new connections may take to send a request when the service stops, in milliseconds. */
const UNUSED_TIME = 1000;
/** The descriptor of the first socket that systemd passes. Source: sd_listen_fds(3). */
const SYSTEMD_SOCKET = 3;

/** Whether systemd has passed a listening socket to this process. */
function hasSystemdSocket(environment: NodeJS.ProcessEnv, pid: number): boolean {
  return environment.LISTEN_PID === String(pid) && Number(environment.LISTEN_FDS) > 0;
}

/** Starts the server for one machine, with router, tools and storage. */
export async function startService(
  settings: Settings,
  dependencies: Omit<Dependencies, 'version' | 'metrics'>,
): Promise<Service> {
  const { log, layers } = dependencies;
  const version = readVersion((layer) => join(layers, layer));
  const build = { version: version.version, commit: version.commit, ...version.engines };
  const metrics = createMetrics(Object.keys(tools), build);
  const composition = await composeService(settings, { ...dependencies, version, metrics });
  const { storage, requests } = composition;
  const { server, connections } = createHttpServer({
    publicUrl: settings.publicUrl,
    storage,
    site: settings.site ? openSite(settings, dependencies, composition, metrics) : undefined,
    connections: composition.connections,
    proxies: settings.proxies,
    log,
    texts: new Map([...(settings.site ? [] : WITHOUT_SITE), ['/llms.txt', llmsText(Object.values(tools))]]),
    route: composition.route,
    callerOf: composition.callerOf,
  });
  const metricsServer =
    settings.metricsPort === undefined ? undefined : await serveMetrics(metrics, settings.metricsPort);
  const activated = hasSystemdSocket(process.env, process.pid);
  if (activated) server.listen({ fd: SYSTEMD_SOCKET });
  else server.listen(settings.port, settings.host);
  await once(server, 'listening');
  await composition.warm();

  void composition.queue
    ?.load()
    .catch((thrown: unknown) => log('jobs not loaded', { cause: describe(thrown) }, 'error'));
  const stopSweeping = sweepRegularly(storage, settings.resultLife, dependencies.siteStores, log);

  return {
    port: (server.address() as AddressInfo).port,
    metricsPort: metricsServer?.port,
    async close() {
      const closed = once(server, 'close');
      // New calls wait for the next server if systemd keeps the socket. Otherwise they get a 503 while those in progress finish, until
      // the grace period ends.
      if (activated) server.close();
      else composition.refuse();
      stopSweeping();
      const jobsStopped = composition.queue?.close();
      const end = performance.now() + 1000 * settings.stopTime;
      while (requests() > 0 && performance.now() < end) await setTimeout(CLOSING_INTERVAL);
      if (requests() > 0) log('stopped with conversions in progress', { requests: requests() }, 'warn');
      if (!activated) server.close();
      if (requests() > 0) server.closeAllConnections();
      let waited = 0;
      const closing = setInterval(() => {
        // The request of a new connection may be on its way.
        connections.closeIdle({ unused: !activated || waited > UNUSED_TIME });
        // Conversions end at their deadline. Clients that read slowly get a few more seconds.
        waited = requests() === 0 ? waited + CLOSING_INTERVAL : 0;
        if (waited > READING_TIME) server.closeAllConnections();
      }, CLOSING_INTERVAL);
      await closed;
      clearInterval(closing);
      metricsServer?.close();
      await jobsStopped;
      await composition.close();
    },
  };
}

/** Counts the emails that are not sent. */
function counted(sendMail: SendMail, metrics: Metrics): SendMail {
  return async (mail) => {
    await sendMail(mail).catch((thrown: unknown) => {
      metrics.mailFailed();
      throw thrown;
    });
  };
}

/** Opens the site, whose script and style sheet are built during setup. */
function openSite(
  settings: Settings,
  dependencies: Omit<Dependencies, 'version' | 'metrics'>,
  { operation, storage, route }: Composition,
  metrics: Metrics,
): Site {
  const { signUp, smtpUrl, mailFrom } = settings;
  const { contact, defaultLimits } = settings.router;
  const { layers, siteStores, usage, limiter, log } = dependencies;
  const read = (name: string) => readFileSync(join(layers, '../site', name), 'utf8');
  return createSite({
    tools: Object.values(tools),
    accounts: siteStores && {
      ...siteStores,
      usage,
      limiter,
      defaultLimits,
      signUp,
      sendMail: smtpUrl === undefined ? undefined : counted(createSmtp(smtpUrl, mailFrom), metrics),
      openId: settings.openId,
      origin: settings.origin,
      operation,
      removeFiles: storage.removeAll,
      callApi: (method, path, member) =>
        route(
          { method, path, query: [], header: () => undefined, member },
          settings.origin,
          new AbortController().signal,
        ),
      log,
    },
    resultOrigins: settings.publicUrl === undefined ? [] : [new URL(settings.publicUrl).origin],
    assets: assetsOf({ script: read('app.js'), style: read('style.css') }),
    supportUrl: contact.supportUrl === `${settings.origin}/support` ? undefined : contact.supportUrl,
    maxSource: settings.conversionLimits.sourceBytes,
    resultHours: Math.round(settings.resultLife / HOUR),
  });
}
