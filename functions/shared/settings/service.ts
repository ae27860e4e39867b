import type { Level, LogFormat } from '../log.ts';
import { choiceSetting } from './environment.ts';

/** Range of the limits on calls. */
export const COUNTS = { min: 0, max: 1_000_000_000 } as const;

/** Removes limits that are 0, which means no limit. */
export function withoutZeros(limits: Required<RateLimits>): RateLimits {
  return Object.fromEntries(Object.entries(limits).filter(([, limit]) => limit > 0));
}

/** Maximum numbers of demo conversions. */
export interface DemoSettings {
  /** Per hour for one IP address. */
  readonly perAddress: number;
  /** Per hour in total. */
  readonly perHour: number;
  /** At the same time. No limit if absent. */
  readonly concurrent?: number;
}

/** Where callers get a key and support. */
export interface Contact {
  readonly accountUrl: string;
  readonly supportUrl: string;
  /** Who can sign up at `accountUrl`. Defaults to everyone. */
  readonly signUp?: 'open' | 'invited' | 'off';
  /** Whether demo mode is on. Defaults to true. */
  readonly hasDemo?: boolean;
}

/**
 * The router's settings on both platforms. Each platform reads them in its own way, and passes them to the router's dependencies as
 * they are, so that one which only the router reads needs no further code on the way.
 */
export interface RouterSettings {
  readonly contact: Contact;
  /** Limits of keys without their own limits. */
  readonly defaultLimits: RateLimits;
  /** Demo mode is off if absent. */
  readonly demo?: DemoSettings | undefined;
  /** Origins of the web pages that may call the service, or `*`. None if absent. */
  readonly corsOrigins?: readonly string[] | undefined;
  /** Whether the log line of a call contains the IP address of the caller. */
  readonly logsIp?: boolean | undefined;
}

/** Reads LOG_FORMAT (`json` or `pretty`) and LOG_LEVEL. */
export function logSettings(defaultFormat: LogFormat): { format: LogFormat; level: Level } {
  return {
    format: choiceSetting('LOG_FORMAT', ['json', 'pretty'], defaultFormat),
    level: choiceSetting('LOG_LEVEL', ['debug', 'info', 'warn', 'error'], 'info'),
  };
}

/** Range of the sizes of sources and results. */
export const MEGABYTES = { min: 1, max: 2000 } as const;

/** An OpenID Connect provider, and the registration of this service with it. */
export interface OpenIdSettings {
  /** Issuer URL of the provider, such as `https://accounts.google.com`. */
  readonly issuer: string;
  readonly clientId: string;
  /** Absent for a public client. */
  readonly clientSecret?: string | undefined;
  /** Name of the provider on the button. Defaults to the host name of the issuer. */
  readonly name?: string | undefined;
}

/** Whether a provider runs on this machine, so that it needs no TLS. */
export function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}

/**
 * With `required`, engines do not start where the kernel cannot filter their system calls, nor does Chromium without
 * its own sandbox, except as root. With `best-effort`, they start with whatever the kernel provides, which on Lambda
 * is nothing.
 */
export type SandboxMode = 'required' | 'best-effort';

/** Limits of an account. If one is absent, the deployment's default applies. */
export interface RateLimits {
  /** Maximum calls per minute. */
  readonly perMinute?: number;
  /** Maximum conversions per calendar month (UTC). */
  readonly perMonth?: number;
  /** Maximum concurrent calls. */
  readonly concurrent?: number;
}
