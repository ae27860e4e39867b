import { availableParallelism, hostname } from 'node:os';
import { resolve } from 'node:path';
import type { RateLimits } from '../../functions/platform/keys/keys.ts';
import type { Level, LogFormat } from '../../functions/shared/log.ts';
import {
  choiceSetting,
  type DemoSettings,
  demoSettings,
  logSettings,
  rateLimitSettings,
  switchSetting,
} from '../../functions/shared/settings/accounts.ts';
import {
  listSetting,
  numberSetting,
  originSetting,
  originsSetting,
  textSetting,
} from '../../functions/shared/settings/environment.ts';
import { conversionLimitSettings } from '../../functions/shared/settings/limits.ts';
import { type OpenIdSettings, openIdSettings } from '../../functions/shared/settings/openid.ts';
import type { ConversionLimits } from '../../functions/shared/tool.ts';
import type { SignUp } from '../../functions/site/accounts/pages.ts';
import { originOf } from './origin.ts';

/** Upper bound for the concurrent conversions of a tool. */
const MAX_SIZE = 64;

export interface Settings {
  readonly host: string;
  readonly port: number;
  /** A key that is valid in addition to those in the database. */
  readonly apiKey: string | undefined;
  readonly dataDirectory: string;
  /** Exact `host:port` pairs of private hosts that sources may come from. */
  readonly allowSources: readonly string[];
  /** DNS servers as `address` or `address:port`. Defaults to those in /etc/resolv.conf. */
  readonly dnsServers: readonly string[];
  /** Host names of this service. URLs with these hosts are not converted. */
  readonly ownHosts: readonly string[];
  /** Origin of result URLs, if a proxy in front of the server has a different one. */
  readonly publicUrl?: string | undefined;
  /** Origins of the web pages that may call the service, or `*`. */
  readonly corsOrigins?: readonly string[];
  readonly accountUrl: string;
  readonly supportUrl: string;
  /** Origin of this server, for links in mails. */
  readonly origin: string;
  /** Whether the server also serves the site. */
  readonly site: boolean;
  /** Who may become a member of the site. */
  readonly signUp: SignUp;
  /** Server that sends the mails of the site, such as `smtps://user:password@mail.example.com`. None if absent. */
  readonly smtpUrl?: string | undefined;
  /** Sender of the mails. */
  readonly mailFrom: string;
  /** OpenID provider for signing in. None if absent. */
  readonly openId?: OpenIdSettings | undefined;
  /** Lifetime of a result URL in seconds. */
  readonly urlLifetime: number;
  /** Maximum bytes of one account's stored results. 0 means no limit. Defaults to a fraction of the disk. */
  readonly accountBytes?: number | undefined;
  /** Bytes to keep free on each disk. Defaults to a fraction of it. */
  readonly diskReserve?: number | undefined;
  /** Maximum concurrent conversions per tool. */
  readonly size: number;
  /** Maximum conversions that run or wait at the same time. */
  readonly queue: number;
  readonly conversionLimits: ConversionLimits;
  /** Limits of keys without their own limits. */
  readonly rateLimits: RateLimits;
  /** Seconds that running conversions get to finish when the server is stopped. */
  readonly stopTime?: number;
  /** Limits of demo conversions without a key. Demo mode is off if absent. */
  readonly demo?: DemoSettings | undefined;
  /** Loopback port of the Prometheus metrics, which are off if absent. */
  readonly metricsPort?: number;
  readonly log: { readonly format: LogFormat; readonly level: Level };
}

/** Reads a setting in MiB and returns it in bytes, or `undefined` if it is not set. */
function mebibytes(name: string): number | undefined {
  if (textSetting(name, undefined) === undefined) return undefined;
  return 2 ** 20 * numberSetting(name, 0, { min: 0, max: 100_000_000 });
}

/** Reads the settings of the server for one machine. The README next to this file describes them. */
export function readSettings(): Settings {
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
    apiKey: textSetting('API_KEY', undefined),
    dataDirectory: resolve(textSetting('DATA_DIR', 'data')),
    allowSources: listSetting('ALLOW_SOURCES'),
    dnsServers: listSetting('DNS_SERVERS'),
    ownHosts: [hostname(), ...(publicUrl ? [new URL(publicUrl).hostname] : []), ...listSetting('OWN_HOSTS')],
    publicUrl,
    corsOrigins: originsSetting('CORS_ORIGINS'),
    accountUrl: textSetting('ACCOUNT_URL', `${origin}/account`),
    supportUrl: textSetting('SUPPORT_URL', `${origin}/support`),
    origin,
    site: switchSetting('SITE', true),
    signUp: choiceSetting('SIGN_UP', ['open', 'invite', 'off'], 'invite'),
    smtpUrl: textSetting('SMTP_URL', undefined),
    mailFrom: textSetting('MAIL_FROM', `docmill@${new URL(origin).hostname}`),
    openId: openIdSettings(),
    accountBytes: mebibytes('ACCOUNT_STORAGE'),
    diskReserve: mebibytes('DISK_RESERVE'),
    urlLifetime: numberSetting('URL_LIFETIME', 3600, { min: 1, max: 86_400 }),
    size,
    queue: numberSetting('QUEUE', 64 * size, { min: 1, max: 10_000 }),
    conversionLimits: conversionLimitSettings({ longest: 3600 }),
    rateLimits: rateLimitSettings({ perMinute: 6000, perMonth: 1_000_000, concurrent: 0 }),
    ...(textSetting('METRICS_PORT', undefined) !== undefined && {
      metricsPort: numberSetting('METRICS_PORT', 9464, { min: 0, max: 65535 }),
    }),
    stopTime: numberSetting('STOP_TIME', 60, { min: 0, max: 3600 }),
    demo: demoSettings(),
    log: logSettings(process.stdout.isTTY ? 'pretty' : 'json'),
  };
}
