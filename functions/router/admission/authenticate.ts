import { createHmac, timingSafeEqual } from 'node:crypto';
import { LINK_PARAMETERS } from '../../conversion/request.ts';
import type { KeyFinder, KeyRecord } from '../../platform/keys.ts';
import { ConversionError } from '../../shared/errors.ts';
import type { Parameter } from '../../shared/options/option.ts';

interface Credentials {
  readonly query: readonly Parameter[];
  header(name: string): string | undefined;
}

/**
 * Returns the record of a request's key, or `undefined` if the key is missing, repeated, wrong, expired, disabled or
 * revoked. The parameter `apikey` takes precedence, because a proxy may have added its own `Authorization` header.
 */
export async function authenticate(
  { query, header }: Credentials,
  keys: KeyFinder,
): Promise<KeyRecord | undefined> {
  const apiKeys = query.filter(({ name }) => name === 'apikey');
  if (apiKeys.length > 1) return undefined;
  const apiKey = (apiKeys[0]?.value || header('x-api-key') || authorizationOf(header))?.trim() ?? '';
  if (apiKey === '' || apiKey.length > 200) return undefined;
  return keys.find(apiKey);
}

/** Returns the key in an `Authorization` header: a bearer token, or the password of Basic authentication. */
function authorizationOf(header: Credentials['header']): string | undefined {
  const [, scheme = '', credentials = ''] =
    /^(bearer|basic) +(.*)$/i.exec(header('authorization') ?? '') ?? [];
  if (scheme.toLowerCase() !== 'basic') return credentials;
  const pair = Buffer.from(credentials, 'base64').toString();
  return pair.slice(pair.indexOf(':') + 1);
}

const [KEY, EXPIRES, SIGNATURE] = LINK_PARAMETERS;

interface LinkRequest {
  readonly query: readonly Parameter[];
  /** The query as it was sent, if known. */
  readonly rawQuery?: string | undefined;
}

/** Whether a query is, or was meant to be, that of a signed link. */
export function isSignedLink(query: readonly Parameter[]): boolean {
  return query.some(({ name }) => LINK_PARAMETERS.some((parameter) => parameter === name));
}

/**
 * Returns the only spelling of a query that can be signed: sorted by name, with every character encoded except the
 * unreserved ones of RFC 3986. A gateway that passes the query on as an unordered map does not change it.
 */
function canonicalQuery(query: readonly Parameter[]): string {
  return query
    .map(({ name, value }) => ({ name: encode(name), value: encode(value) }))
    .sort((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)))
    .map(({ name, value }) => `${name}=${value}`)
    .join('&');
}

/**
 * Returns the query of a link that is valid until `expires` (epoch seconds). `secret` is the SHA-256 of the signing
 * key, in hexadecimal digits.
 */
export function signQuery(
  query: readonly Parameter[],
  { id, secret, expires }: { readonly id: string; readonly secret: string; readonly expires: number },
): string {
  const signed = canonicalQuery([
    ...query,
    { name: KEY, value: id },
    { name: EXPIRES, value: String(expires) },
  ]);
  return `${signed}&${SIGNATURE}=${hmac(secret, signed)}`;
}

/**
 * Returns the record of the key that signed a link.
 * @throws ConversionError `INVALID_LINK` if the query was changed, the link has expired, or its key is not valid.
 */
export async function verifyLink(
  { query, rawQuery }: LinkRequest,
  keys: KeyFinder,
  now = Date.now(),
): Promise<KeyRecord> {
  const only = (wanted: string) => {
    const values = query.filter(({ name }) => name === wanted).map(({ value }) => value);
    return values.length === 1 ? values[0]! : '';
  };
  const [id, expires, signature] = [only(KEY), only(EXPIRES), only(SIGNATURE)];
  const hasForm =
    /^key_[0-9A-Z]{10}$/.test(id) && /^\d{1,11}$/.test(expires) && /^[0-9a-f]{64}$/.test(signature);
  const signer = hasForm ? await keys.findSigner(id) : undefined;
  if (!signer) throw invalidLinkError();
  const signed = canonicalQuery(query.filter(({ name }) => name !== SIGNATURE));
  const isValid = timingSafeEqual(Buffer.from(hmac(signer.secret, signed)), Buffer.from(signature));
  const isUnchanged = rawQuery === undefined || rawQuery === `${signed}&${SIGNATURE}=${signature}`;
  if (!isValid || !isUnchanged) throw invalidLinkError();
  if (1000 * Number(expires) > now) return signer.record;
  throw new ConversionError('INVALID_LINK', 'This signed link has expired.');
}

/** Returns the epoch seconds at which a verified link expires, or `undefined` for any other query. */
export function linkExpiry(query: readonly Parameter[]): number | undefined {
  const expires = query.find(({ name }) => name === EXPIRES);
  return expires && Number(expires.value);
}

function invalidLinkError(): ConversionError {
  const message = 'The signature of this link does not match its query, or its key is not valid.';
  return new ConversionError('INVALID_LINK', message);
}

function hmac(secret: string, text: string): string {
  return createHmac('sha256', secret).update(text).digest('hex');
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}
