import { BlockList, isIP } from 'node:net';
import { availableParallelism, hostname, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { languageTag } from '../../functions/shared/options/language-tag.ts';
import {
  choiceSetting,
  listSetting,
  numberSetting,
  originSetting,
  originsSetting,
  switchSetting,
  textSetting,
} from '../../functions/shared/settings/environment.ts';
import { conversionLimitSettings } from '../../functions/shared/settings/limits.ts';
import { openIdSettings } from '../../functions/shared/settings/openid.ts';
import { demoSettings, logSettings, rateLimitSettings } from '../../functions/shared/settings/service.ts';
import type { SignUp } from '../../functions/site/accounts/pages.ts';
import { originOf } from './origin.ts';

/** Upper bound for the concurrent conversions of a tool. */
const MAX_SIZE = 64;

export type Settings = ReturnType<typeof readSettings>;

/** Reads a setting in MiB and returns it in bytes, or `undefined` if it is not set. */
function mebibytes(name: string): number | undefined {
  if (textSetting(name, undefined) === undefined) return undefined;
  return 2 ** 20 * numberSetting(name, 0, { min: 0, max: 100_000_000 });
}

/** Reads IP addresses and networks such as `10.0.0.0/8`. */
function networksSetting(name: string): BlockList {
  const networks = new BlockList();
  for (const network of listSetting(name)) {
    const [ip = '', length, ...others] = network.split('/');
    const isV6 = isIP(ip) === 6;
    const max = isV6 ? 128 : 32;
    const prefix = length === undefined ? max : Number(length);
    if (isIP(ip) === 0 || others.length > 0 || !Number.isInteger(prefix) || prefix < 0 || prefix > max)
      throw new Error(
        `Setting ${name} must be IP addresses or networks such as 10.0.0.0/8, got '${network}'.`,
      );
    networks.addSubnet(ip, prefix, isV6 ? 'ipv6' : 'ipv4');
  }
  return networks;
}

function localeSetting(): string {
  const text = textSetting('LOCALE', 'en-US');
  const tag = languageTag(text);
  if (tag !== undefined) return tag;
  throw new Error(`Setting LOCALE must be a language tag such as de-DE, got '${text}'.`);
}

/** Returns a quarter of the memory that the machine or its control group has, in MiB. */
function defaultWarmMemory(): number {
  const limit = process.constrainedMemory();
  return Math.floor(Math.min(totalmem(), limit > 0 ? limit : Infinity) / 4 / 2 ** 20);
}

/** Reads the settings of the server for one machine. The README next to this file describes them. */
export function readSettings() {
  const port = numberSetting('PORT', 3000, { min: 0, max: 65535 });
  const publicUrl = originSetting('PUBLIC_URL');
  const size = numberSetting('CONCURRENCY', Math.min(MAX_SIZE, availableParallelism()), {
    min: 1,
    max: MAX_SIZE,
  });
  const host = textSetting('HOST', '127.0.0.1');
  const origin = publicUrl ?? originOf(host, port);
  return {
    host,
    port,
    /** A key that is valid in addition to those in the database. */
    apiKey: textSetting('API_KEY', undefined),
    dataDirectory: resolve(textSetting('DATA_DIR', 'data')),
    /** Exact `host:port` pairs of private hosts that sources may come from. */
    allowSources: listSetting('ALLOW_SOURCES'),
    /** DNS servers as `address` or `address:port`. Defaults to those in /etc/resolv.conf. */
    dnsServers: listSetting('DNS_SERVERS'),
    /** Host names of this service. URLs with these hosts are not converted. */
    ownHosts: [hostname(), ...(publicUrl ? [new URL(publicUrl).hostname] : []), ...listSetting('OWN_HOSTS')],
    /** Origin of result URLs, if a proxy in front of the server has a different one. */
    publicUrl,
    /** Proxies whose `X-Forwarded-For` is believed. */
    proxies: networksSetting('TRUSTED_PROXIES'),
    /** Origins of the web pages that may call the service, or `*`. */
    corsOrigins: originsSetting('CORS_ORIGINS'),
    accountUrl: textSetting('ACCOUNT_URL', `${origin}/account`),
    supportUrl: textSetting('SUPPORT_URL', `${origin}/support`),
    /** Origin of this server, for links in emails. */
    origin,
    /** Whether the server also serves the site. */
    site: switchSetting('SITE', true),
    /** Who may become a member of the site. */
    signUp: choiceSetting<SignUp>('SIGN_UP', ['open', 'invite', 'off'], 'invite'),
    /** Server that sends the emails of the site, such as `smtps://user:password@mail.example.com`. None if absent. */
    smtpUrl: textSetting('SMTP_URL', undefined),
    /** Sender of the emails. */
    mailFrom: textSetting('MAIL_FROM', `docmill@${new URL(origin).hostname}`),
    /** OpenID provider for signing in. None if absent. */
    openId: openIdSettings(),
    /** Maximum bytes of one account's stored results. 0 means no limit. Defaults to a fraction of the disk. */
    accountBytes: mebibytes('ACCOUNT_STORAGE'),
    /** Bytes to keep free on each disk. Defaults to a fraction of it. */
    diskReserve: mebibytes('DISK_RESERVE'),
    /** Lifetime of a result URL in seconds. */
    urlLifetime: numberSetting('URL_LIFETIME', 3600, { min: 1, max: 86_400 }),
    /** Maximum concurrent conversions per tool. */
    size,
    /** Language tag for dates and numbers of documents that declare none. */
    locale: localeSetting(),
    /** Memory for idle workers that keep warm for their accounts, in MiB. */
    warmMemory: numberSetting('WARM_MEMORY', defaultWarmMemory(), { min: 0, max: 100_000_000 }),
    /** Maximum conversions that run or wait at the same time. */
    queue: numberSetting('QUEUE', 64 * size, { min: 1, max: 10_000 }),
    conversionLimits: conversionLimitSettings({ maxSeconds: 3600 }),
    /** Limits of keys without their own limits. */
    rateLimits: rateLimitSettings({ perMinute: 6000, perMonth: 1_000_000, concurrent: 0 }),
    /** Loopback port of the Prometheus metrics, which are off if absent. */
    ...(textSetting('METRICS_PORT', undefined) !== undefined && {
      metricsPort: numberSetting('METRICS_PORT', 9464, { min: 0, max: 65535 }),
    }),
    /** Seconds that running conversions get to finish when the server is stopped. */
    stopTime: numberSetting('STOP_TIME', 60, { min: 0, max: 3600 }),
    /** Limits of demo conversions without a key. Demo mode is off if absent. */
    demo: demoSettings(),
    log: logSettings(process.stdout.isTTY ? 'pretty' : 'json'),
  };
}
