import { BlockList, isIP, isIPv6 } from 'node:net';
import { hostname } from 'node:os';
import { resolve } from 'node:path';
import { readAll } from '../../functions/shared/settings/define.ts';
import {
  type OpenIdSettings,
  type RouterSettings,
  withoutZeros,
} from '../../functions/shared/settings/service.ts';
import { HOUR } from '../../functions/shared/time.ts';
import { CONVERSION_LIMITS } from '../../functions/shared/tool.ts';
import { defaultSize, defaultWarmMemory, SETTINGS } from './definitions.ts';

export type Settings = ReturnType<typeof readSettings>;

/**
 * Reads the settings of the server for one machine. `definitions.ts` describes them.
 * @throws Error with one line for each mistake.
 */
export function readSettings() {
  const read = readAll(SETTINGS);
  const publicUrl = read.PUBLIC_URL && new URL(read.PUBLIC_URL).origin;
  const origin = publicUrl ?? originOf(read.HOST, read.PORT);
  const size = read.CONCURRENCY ?? defaultSize();
  return {
    host: read.HOST,
    port: read.PORT,
    /** A key that is valid in addition to those in the database. */
    apiKey: read.API_KEY,
    dataDirectory: resolve(read.DATA_DIR),
    /** Private hosts that sources may come from; see `EgressRules`. */
    allowSources: read.ALLOW_SOURCES,
    dnsServers: read.DNS_SERVERS,
    /** Host names of this service. URLs with these hosts are not converted. */
    ownHosts: [hostname(), ...(publicUrl ? [new URL(publicUrl).hostname] : []), ...read.OWN_HOSTS],
    /** Origin of result URLs, if a proxy in front of the server has a different one. */
    publicUrl,
    /** Proxies whose `X-Forwarded-For` is believed. */
    proxies: networksOf(read.TRUSTED_PROXIES),
    router: routerSettingsOf(read, origin),
    /** Origin of this server, for links in emails. */
    origin,
    /** Whether the server also serves the site. */
    site: read.SITE === 'on',
    /** Who may become a member of the site. */
    signUp: read.SIGN_UP,
    smtpUrl: read.SMTP_URL,
    /** Sender of the emails. */
    mailFrom: read.MAIL_FROM ?? `docmill@${new URL(origin).hostname}`,
    openId: openIdOf(read),
    /** Maximum bytes of one account's stored results. 0 means no limit. Defaults to a fraction of the disk. */
    accountBytes: bytesOf(read.ACCOUNT_STORAGE),
    /** How long results are kept, in milliseconds. */
    resultLife: HOUR * read.RESULT_LIFE,
    /** Lifetime of a result URL in seconds. */
    urlLifetime: read.URL_LIFETIME,
    /** Maximum concurrent conversions per tool. */
    size,
    /** Language tag for dates and numbers of documents that declare none. */
    locale: read.LOCALE,
    /** Memory for idle workers that keep warm for their accounts, in MiB. */
    warmMemory: read.WARM_MEMORY ?? defaultWarmMemory(),
    /** Maximum conversions that run or wait at the same time. */
    queue: read.QUEUE ?? 64 * size,
    conversionLimits: {
      ...CONVERSION_LIMITS,
      sourceBytes: 1e6 * read.MAX_SOURCE_MB,
      resultBytes: 1e6 * read.MAX_RESULT_MB,
      settleTime: 1000 * read.SETTLE_TIME,
      conversionTime: 1000 * read.CONVERSION_TIME,
    },
    /** Maximum jobs that run at a time. */
    jobs: read.JOBS ?? size,
    /** Maximum queued jobs of an account. */
    maxQueuedJobs: read.MAX_QUEUED_JOBS,
    /** Maximum milliseconds of a job, while it runs. */
    jobTime: 1000 * read.JOB_TIME,
    /** Loopback port of the Prometheus metrics, which are off if absent. */
    ...(read.METRICS_PORT !== undefined && { metricsPort: read.METRICS_PORT }),
    /** Seconds that running conversions get to finish when the server is stopped. */
    stopTime: read.STOP_TIME,
    sandbox: read.SANDBOX,
    log: { format: read.LOG_FORMAT, level: read.LOG_LEVEL },
    /** Collector of traces. None are sent if absent. */
    collector:
      read.OTEL_EXPORTER_OTLP_ENDPOINT === undefined
        ? undefined
        : { endpoint: read.OTEL_EXPORTER_OTLP_ENDPOINT, headers: read.OTEL_EXPORTER_OTLP_HEADERS },
  };
}

type Read = ReturnType<typeof readAll<typeof SETTINGS>>;

/** The account URL of another site is where everyone gets a key. */
function signUpOf({ ACCOUNT_URL, SITE, SIGN_UP }: Read): NonNullable<RouterSettings['contact']['signUp']> {
  if (ACCOUNT_URL !== undefined) return 'open';
  if (SITE !== 'on' || SIGN_UP === 'off') return 'off';
  return SIGN_UP === 'open' ? 'open' : 'invited';
}

function routerSettingsOf(read: Read, origin: string): RouterSettings {
  const { ACCOUNT_URL, DEMO, DEMO_PER_ADDRESS: perAddress, DEMO_PER_HOUR: perHour } = read;
  return {
    contact: {
      accountUrl: ACCOUNT_URL ?? `${origin}/account`,
      supportUrl: read.SUPPORT_URL ?? `${origin}/support`,
      signUp: signUpOf(read),
      hasDemo: DEMO === 'on',
    },
    defaultLimits: withoutZeros({
      perMinute: read.LIMIT_PER_MINUTE,
      perMonth: read.LIMIT_PER_MONTH,
      concurrent: read.LIMIT_CONCURRENT,
    }),
    ...(DEMO === 'on' && { demo: { perAddress, perHour } }),
    corsOrigins: read.CORS_ORIGINS,
    logsIp: read.LOG_IP === 'on',
  };
}

function openIdOf(read: Read): OpenIdSettings | undefined {
  const { OPENID_ISSUER: issuer, OPENID_CLIENT_ID: clientId } = read;
  if (issuer === undefined) return undefined;
  if (clientId === undefined) throw new Error('OPENID_ISSUER requires OPENID_CLIENT_ID.');
  return { issuer, clientId, clientSecret: read.OPENID_CLIENT_SECRET, name: read.OPENID_NAME };
}

function bytesOf(mebibytes: number | undefined): number | undefined {
  return mebibytes === undefined ? undefined : 2 ** 20 * mebibytes;
}

function networksOf(networks: readonly string[]): BlockList {
  const all = new BlockList();
  for (const network of networks) {
    const [ip = '', length] = network.split('/');
    const isV6 = isIP(ip) === 6;
    all.addSubnet(ip, Number(length ?? (isV6 ? 128 : 32)), isV6 ? 'ipv6' : 'ipv4');
  }
  return all;
}

/** Listening addresses that make a server reachable as `localhost` from the same machine. */
const LOCAL = new Set(['127.0.0.1', '0.0.0.0', '::']);

/** Returns the origin at which this machine reaches a server that listens on an IP address or host name. */
export function originOf(host: string, port: number): string {
  const name = LOCAL.has(host) ? 'localhost' : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
