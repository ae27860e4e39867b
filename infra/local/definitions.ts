import { isIP } from 'node:net';
import { availableParallelism, totalmem } from 'node:os';
import { isException } from '../../functions/shared/egress/exceptions.ts';
import { languageTag } from '../../functions/shared/options/language-tag.ts';
import { choice, integer, isUrl, list, text } from '../../functions/shared/settings/define.ts';
import { isOrigin } from '../../functions/shared/settings/environment.ts';
import { COUNTS, isLoopback, MEGABYTES } from '../../functions/shared/settings/service.ts';
import { CONVERSION_LIMITS } from '../../functions/shared/tool.ts';

/** Upper bound for the concurrent conversions of a tool. */
const MAX_SIZE = 64;
const PORTS = { min: 0, max: 65_535 } as const;
const MEBIBYTES = { min: 0, max: 100_000_000 } as const;
/** Minimum number of characters of API_KEY, which anyone may try to guess. */
const MIN_KEY_LENGTH = 16;
const LIMITS = CONVERSION_LIMITS;
const SWITCH = ['on', 'off'] as const;
const HOST_NAME = /^[a-z0-9_]([a-z0-9_.-]{0,252}[a-z0-9_])?$/i;
const CONTACT = {
  absent: undefined,
  shown: 'a page of this server',
  rule: 'an http, https or mailto URL',
  isValid: (value: string) => isUrl(value, ['http', 'https', 'mailto']),
};

/** The settings of the server for one machine, which its guide lists. */
export const SETTINGS = {
  PORT: integer('port to listen on', { ...PORTS, absent: 3000 }),
  HOST: text('IP address to listen on', {
    absent: '127.0.0.1',
    rule: 'an IP address or a host name',
    isValid: (value) => isIP(value) !== 0 || HOST_NAME.test(value),
  }),
  PUBLIC_URL: text('origin of result URLs when a proxy is in front, such as `https://convert.example.com`', {
    absent: undefined,
    shown: 'origin of the request',
    rule: 'an http or https origin such as https://convert.example.com',
    isValid: isPlainOrigin,
  }),
  TRUSTED_PROXIES: list(
    'IP addresses and networks of proxies on other machines whose `X-Forwarded-For` is believed, separated by commas',
    {
      shown: 'none; a proxy on this machine is believed',
      rule: 'IP addresses or networks such as 10.0.0.0/8',
      isValid: isNetwork,
    },
  ),
  DATA_DIR: text('directory for results, keys and usage data', { absent: 'data', shown: '`data`' }),
  API_KEY: text('a key that is valid in addition to those in the database', {
    absent: undefined,
    isSecret: true,
    rule: `${MIN_KEY_LENGTH} to 200 characters without spaces`,
    isValid: (value) => /^[!-~]+$/.test(value) && value.length >= MIN_KEY_LENGTH && value.length <= 200,
  }),
  CONCURRENCY: integer(
    'concurrent conversions for each tool; an account downloads at most four times as many sources at once',
    { min: 1, max: MAX_SIZE, absent: undefined, shown: 'number of cores, at most 64' },
  ),
  LOCALE: {
    text: 'language of dates and numbers in documents that declare none and have no `--locale`, such as `de-DE`',
    shown: '`en-US`',
    rule: 'a language tag such as de-DE',
    read: (value: string) => languageTag(value),
    absent: () => 'en-US',
  },
  WARM_MEMORY: integer(
    'MiB for idle engines: spares, and those that stay warm for the account that used them last, at most a minute',
    {
      ...MEBIBYTES,
      absent: undefined,
      shown: 'a quarter of the memory of the machine or container',
    },
  ),
  QUEUE: integer('conversions that run or wait; further requests get `OVERLOADED`', {
    min: 1,
    max: 10_000,
    absent: undefined,
    shown: '64 × `CONCURRENCY`',
  }),
  CONVERSION_TIME: integer('timeout of a conversion in seconds', {
    min: 1,
    max: 3600,
    absent: LIMITS.conversionTime / 1000,
  }),
  JOBS: integer('jobs that run at a time, in addition to other conversions; one more for another account', {
    min: 1,
    max: MAX_SIZE,
    absent: undefined,
    shown: '`CONCURRENCY`',
  }),
  JOB_TIME: integer('timeout of a job in seconds, from its start', { min: 1, max: 21_600, absent: 1800 }),
  MAX_QUEUED_JOBS: integer('queued jobs of an account; further ones get `RATE_LIMITED`', {
    min: 1,
    max: 1_000_000,
    absent: 10_000,
  }),
  STOP_TIME: integer('seconds that running conversions get when the server is stopped', {
    min: 0,
    max: 3600,
    absent: 60,
  }),
  SETTLE_TIME: integer('maximum time in seconds to wait for a loaded web page to stop changing', {
    min: 1,
    max: 60,
    absent: LIMITS.settleTime / 1000,
  }),
  MAX_SOURCE_MB: integer('maximum size of a source in MB', {
    ...MEGABYTES,
    absent: LIMITS.sourceBytes / 1e6,
  }),
  MAX_RESULT_MB: integer('maximum size of a result in MB', {
    ...MEGABYTES,
    absent: LIMITS.resultBytes / 1e6,
  }),
  ACCOUNT_STORAGE: integer(
    "maximum MiB on disk of one account's results until they expire; each counts at least 8 KiB; 0 means no limit",
    { ...MEBIBYTES, absent: undefined, shown: 'a quarter of the disk, at most 10240' },
  ),
  RESULT_LIFE: integer('hours after which results are deleted', { min: 1, max: 8760, absent: 24 }),
  URL_LIFETIME: integer('lifetime of an API result URL in seconds', { min: 1, max: 86_400, absent: 3600 }),
  LIMIT_PER_MINUTE: integer('requests per minute for keys without their own limit; 0 means no limit', {
    ...COUNTS,
    absent: 6000,
  }),
  LIMIT_PER_MONTH: integer('requests per month for keys without their own limit; 0 means no limit', {
    ...COUNTS,
    absent: 1_000_000,
  }),
  LIMIT_CONCURRENT: integer('concurrent requests for keys without their own limit; 0 means no limit', {
    ...COUNTS,
    absent: 0,
  }),
  DEMO: choice('`on` converts a small watermarked sample for requests without a valid key', {
    words: SWITCH,
    absent: 'on',
  }),
  DEMO_PER_ADDRESS: integer('demo conversions per hour for one IP address', { ...COUNTS, absent: 5 }),
  DEMO_PER_HOUR: integer('demo conversions per hour in total', { ...COUNTS, absent: 60 }),
  ALLOW_SOURCES: list(
    'private `host:port` pairs that sources may come from, separated by commas; `*.corp.example:443` allows all hosts below a domain',
    {
      rule: 'host:port pairs such as files.corp.example:443 or *.corp.example:443',
      isValid: isException,
    },
  ),
  DNS_SERVERS: list('DNS servers as `IP` or `IP:port`, separated by commas', {
    shown: '`/etc/resolv.conf`',
    rule: 'IP addresses such as 10.0.0.53 or 10.0.0.53:5353',
    isValid: isNameServer,
  }),
  OWN_HOSTS: list('additional host names of this service; URLs on them are rejected', {
    rule: 'host names such as convert.example.com',
    isValid: (part) => HOST_NAME.test(part) || isIP(part) !== 0,
  }),
  CORS_ORIGINS: list(
    'origins of the web pages whose scripts may call the service, separated by commas, or `*` for all',
    { rule: '* or origins such as https://www.example.com', isValid: isOrigin },
  ),
  ACCOUNT_URL: text('where callers get a key; part of the response to an invalid key', CONTACT),
  SUPPORT_URL: text('where callers get support; part of the response to an invalid key', CONTACT),
  SITE: choice(
    '`on` serves the site: pages for converting files, documentation, support, accounts and operators',
    { words: SWITCH, absent: 'on' },
  ),
  SIGN_UP: choice(
    'who gets an account on the site: `open` everyone with an email address, `invite` people whom you invite, `off` nobody new',
    { words: ['open', 'invite', 'off'], absent: 'invite' },
  ),
  SMTP_URL: text(
    'mail server for sign-in links, such as `smtps://user:password@mail.example.com`; also set `PUBLIC_URL`',
    {
      absent: undefined,
      isSecret: true,
      rule: 'a URL such as smtps://user:password@mail.example.com',
      isValid: (value) => isUrl(value, ['smtp', 'smtps']),
    },
  ),
  MAIL_FROM: text('sender of the emails', {
    absent: undefined,
    shown: '`docmill@` and the host name',
    rule: 'an email address such as docmill@example.com or Docmill <docmill@example.com>',
    isValid: (value) => /^([^<>]+<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/.test(value),
  }),
  OPENID_ISSUER: text(
    'URL of an OpenID Connect provider that people can sign in with, such as `https://accounts.google.com`; also set `PUBLIC_URL`',
    {
      absent: undefined,
      rule: 'an https URL',
      isValid: (value) => isUrl(value, ['https']) || (isUrl(value, ['http']) && isLoopback(new URL(value))),
    },
  ),
  OPENID_CLIENT_ID: text('ID of this service as a client of the provider', { absent: undefined }),
  OPENID_CLIENT_SECRET: text('secret of that client; a public client has none', { absent: undefined }),
  OPENID_NAME: text('name of the provider on the sign-in button', {
    absent: undefined,
    shown: 'host name of the issuer',
  }),
  LOG_FORMAT: {
    ...choice<'json' | 'pretty'>('`json` or `pretty`', {
      words: ['json', 'pretty'],
      absent: 'json',
      shown: '`pretty` in a terminal, otherwise `json`',
    }),
    absent: (): 'json' | 'pretty' => (process.stdout.isTTY ? 'pretty' : 'json'),
  },
  LOG_LEVEL: choice('`debug`, `info`, `warn` or `error`', {
    words: ['debug', 'info', 'warn', 'error'],
    absent: 'info',
  }),
  LOG_IP: choice('`on` adds the IP address of the caller to the log line of each call', {
    words: SWITCH,
    absent: 'off',
  }),
  SANDBOX: choice(
    '`required` starts engines only if the kernel can filter system calls, and Chromium only with its own sandbox (except as root); `best-effort` starts them anyway',
    {
      words: ['required', 'best-effort'],
      absent: 'required',
      shown: '`required`; `best-effort` in the container image',
    },
  ),
  METRICS_PORT: integer('loopback port of the Prometheus metrics', {
    ...PORTS,
    absent: undefined,
    shown: 'off',
  }),
  OTEL_EXPORTER_OTLP_ENDPOINT: text(
    'base URL of an OpenTelemetry collector, which gets the traces of calls with a key as OTLP over HTTP',
    {
      absent: undefined,
      shown: 'off',
      rule: 'an http or https URL such as http://127.0.0.1:4318',
      isValid: (value) => isUrl(value, ['http', 'https']),
    },
  ),
  OTEL_EXPORTER_OTLP_HEADERS: text('further headers for the collector, such as `authorization=Bearer%20…`', {
    absent: undefined,
    isSecret: true,
    rule: 'name=value pairs, separated by commas',
    isValid: (value) => /^[\w-]+=[^,]+(,[\w-]+=[^,]+)*$/.test(value),
  }),
  FONTS: text(
    'folder with fonts of your own (`.ttf`, `.otf`, `.ttc`), which the next start adds to the engines',
    { absent: undefined },
  ),
  DEBIAN_MIRROR: list(
    'Debian mirrors to build the engines from, separated by commas, for machines without Debian apt sources',
    {
      shown: "the machine's",
      rule: 'http or https URLs such as https://mirror.example.com/debian',
      isValid: (part) => isUrl(part, ['http', 'https']),
    },
  ),
  BUILD_DIR: text(
    'directory for packages, engines and a copy of the sources, for a checkout that cannot be written; `npm start`, `npm run keys` and `npm run convert` then run there',
    { absent: undefined, shown: 'the checkout' },
  ),
};

/** Returns the default of CONCURRENCY. */
export function defaultSize(): number {
  return Math.min(MAX_SIZE, availableParallelism());
}

/** Returns the default of WARM_MEMORY: a quarter of the memory that the machine or its control group has, in MiB. */
export function defaultWarmMemory(): number {
  const limit = process.constrainedMemory();
  return Math.floor(Math.min(totalmem(), limit > 0 ? limit : Infinity) / 4 / 2 ** 20);
}

/** Whether a text is an origin, maybe with a slash at its end. */
function isPlainOrigin(value: string): boolean {
  const { pathname, search, hash } = URL.parse(value) ?? {};
  return isUrl(value, ['http', 'https']) && pathname === '/' && search === '' && hash === '';
}

/** Whether a text is an IP address or a network such as `10.0.0.0/8`. */
function isNetwork(part: string): boolean {
  const [ip = '', length, ...others] = part.split('/');
  const max = isIP(ip) === 6 ? 128 : 32;
  return (
    isIP(ip) !== 0 &&
    others.length === 0 &&
    (length === undefined || (/^\d{1,3}$/.test(length) && Number(length) <= max))
  );
}

/** Whether a text is an IP address with or without a port. That of IPv6 then has brackets. */
function isNameServer(part: string): boolean {
  const [, v6, v4 = part, port = '53'] = /^(?:\[(.+)\]|([^:]+))(?::(\d{1,5}))?$/.exec(part) ?? [];
  return isIP(v6 ?? v4) !== 0 && Number(port) <= PORTS.max;
}
