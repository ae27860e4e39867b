import { ConversionError } from '../shared/errors.ts';
import { type OutputName, pageName } from '../shared/output-name.ts';
import { quote } from '../shared/quote.ts';

/** An object in a bucket. */
export interface Place {
  readonly bucket: string;
  readonly key: string;
}

export const ACCESS = ['read', 'write', 'both'] as const;
export type Access = (typeof ACCESS)[number];

/** Allows an account to use the objects below `s3://BUCKET/` or `s3://BUCKET/PREFIX/`. */
export interface NamedPrefix {
  readonly url: string;
  readonly access: Access;
}

/**
 * Checks that a parameter names an object that the account may use.
 * @throws ConversionError `BAD_PARAMETER`, `BLOCKED_ADDRESS`
 */
export type CheckPlace = (url: string, use: 'read' | 'write', parameter: string) => Place;

/** Names of general purpose buckets, without aliases of access points and of other kinds of buckets. */
const BUCKET =
  /^(?!.*\.\.)(?!\d+(\.\d+){3}$)(?!xn--|sthree-)(?!.*(-s3alias|--ol-s3|\.mrap|--x-s3|--table-s3)$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/;
const MAX_KEY_BYTES = 1024;
/** Matches keys that a server or a proxy could take for another key: with empty segments, `.` and `..`, backslashes and encoded slashes. */
const AMBIGUOUS = /(^|\/)(\.|%2e){0,2}(\/|$)|%2f|%5c|\\|\p{Cc}/iu;

/** Reads the URL of an object. Its key is not percent-decoded. Returns `undefined` for anything else. */
export function readPlace(url: string): Place | undefined {
  const [, bucket = '', key = ''] = /^s3:\/\/([^/]*)\/(.*)$/s.exec(url) ?? [];
  const isKey = key.isWellFormed() && Buffer.byteLength(key) <= MAX_KEY_BYTES && !AMBIGUOUS.test(key);
  return isKey && BUCKET.test(bucket) ? { bucket, key } : undefined;
}

/** Whether a URL names a bucket or a prefix in one, and ends with a slash. */
export function isPrefix(url: string): boolean {
  return url.endsWith('/') && readPlace(`${url}a`) !== undefined;
}

/** Returns the check for an account with these prefixes. */
export function checkPlaces(prefixes: readonly NamedPrefix[]): CheckPlace {
  return (url, use, parameter) => {
    const place = readPlace(url);
    if (!place) {
      const rule = `s3://BUCKET/KEY, with a key of at most ${MAX_KEY_BYTES} bytes without empty segments, '.' and '..'`;
      const message = `Parameter '${parameter}' must be ${rule}, got ${quote(url)}.`;
      throw new ConversionError('BAD_PARAMETER', message, { parameter });
    }
    // A prefix ends with a slash, so that `in/` does not match `inner/`.
    const isNamed = ({ url: prefix, access }: NamedPrefix) =>
      url.startsWith(prefix) && (access === use || access === 'both');
    if (prefixes.some(isNamed)) return place;
    const message = `This account may not ${use} ${quote(url)}. The operator of the service decides which buckets it may use.`;
    throw new ConversionError('BLOCKED_ADDRESS', message, { parameter });
  };
}

/** The check for demo mode and signed links, which may use no bucket because anyone can repeat their requests. */
export const refuseBuckets: CheckPlace = (_url, _use, parameter) => {
  const message = `Parameter '${parameter}' names a bucket, which requires an API key whose account may use buckets.`;
  throw new ConversionError('BLOCKED_ADDRESS', message, { parameter });
};

/**
 * Reads `_to`: the prefix that the results are moved to, so that the service keeps none that it could use again or send.
 * @throws ConversionError `BAD_PARAMETER`, `BLOCKED_ADDRESS`
 */
export function readTarget(
  to: string | undefined,
  others: { readonly outputName?: OutputName | undefined; readonly response?: string | undefined },
  check: CheckPlace,
): string | undefined {
  if (to === undefined) return undefined;
  const { outputName = { kind: 'one', name: 'a' }, response = 'text' } = others;
  const refused = (rule: string) => new ConversionError('BAD_PARAMETER', `Parameter '_to' ${rule}.`);
  if (!isPrefix(to)) throw refused(`must be s3://BUCKET/PREFIX/, with a slash at its end, got ${quote(to)}`);
  check(targetUrl({ to, outputName }, 0), 'write', '_to');
  if (response !== 'text') throw refused(`moves the result, so '_response=${response}' cannot return it`);
  return to;
}

/** Returns the new URL of a result. Its name is that of the request, because a tool has processed hostile content. */
export function targetUrl(
  { to, outputName }: { readonly to: string; readonly outputName: OutputName },
  index: number,
  stored: ReadonlyArray<{ readonly page?: number }> = [],
): string {
  const page = stored[index]?.page ?? index + 1;
  return to + (outputName.kind === 'numbered' ? pageName(outputName.pattern, page) : outputName.name);
}
