import type { RateLimits } from '../../shared/rate-limits.ts';
import type { KeyRecord } from './keys.ts';

/** Restrict what an account may do. Its keys can only narrow this. */
export interface Restrictions {
  readonly limits: RateLimits;
  /** Names of the tools that may be used. All tools if absent. */
  readonly tools?: readonly string[];
  /** Epoch milliseconds after which no key is valid. */
  readonly expires?: number;
}

export const UNRESTRICTED: Restrictions = { limits: {} };

/** Copies only the restrictions of a key or account. */
export function restrictionsOf({ limits, tools, expires }: Restrictions): Restrictions {
  return { limits, ...(tools && { tools }), ...(expires !== undefined && { expires }) };
}

/** Reads stored restrictions. */
export function parseRestrictions(text: string | undefined): Restrictions {
  return text ? (JSON.parse(text) as Restrictions) : UNRESTRICTED;
}

/** Returns what a key may do whose account has restrictions, too: only what both allow. */
export function narrow(own: Restrictions, account: Restrictions): Restrictions {
  const limits = { ...account.limits, ...own.limits };
  for (const name of namesOf(limits))
    limits[name] = Math.min(account.limits[name] ?? Infinity, own.limits[name] ?? Infinity);
  const tools =
    own.tools && account.tools
      ? own.tools.filter((tool) => account.tools!.includes(tool))
      : (own.tools ?? account.tools);
  const ends = [own.expires, account.expires].filter((end) => end !== undefined);
  return restrictionsOf({
    limits,
    ...(tools && { tools }),
    ...(ends.length > 0 && { expires: Math.min(...ends) }),
  });
}

/**
 * Returns what keys that are not disabled may do together, including expired ones. If all are disabled, those count.
 * `limits` are those of the oldest key.
 */
export function together(keys: ReadonlyArray<Restrictions & Pick<KeyRecord, 'disabled'>>): Restrictions {
  const enabled = keys.filter(({ disabled }) => !disabled);
  const counted = enabled.length > 0 ? enabled : keys;
  if (counted.length === 0) return UNRESTRICTED;
  const tools = counted.every((key) => key.tools) && [...new Set(counted.flatMap((key) => key.tools!))];
  const ends = counted.map(({ expires = Infinity }) => expires);
  const last = Math.max(...ends);
  return { limits: keys[0]!.limits, ...(tools && { tools }), ...(last < Infinity && { expires: last }) };
}

export type Writable<Value> = { -readonly [Name in keyof Value]: Value[Name] };

/** Returns the names of the limits that are set. */
export function namesOf(limits: RateLimits): Array<keyof RateLimits> {
  return Object.keys(limits) as Array<keyof RateLimits>;
}
