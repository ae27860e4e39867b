import type { KeyFinder, KeyRecord } from '../../platform/keys/keys.ts';
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
