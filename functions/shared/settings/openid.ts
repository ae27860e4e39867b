import { textSetting } from './environment.ts';

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

/**
 * Reads OPENID_ISSUER, OPENID_CLIENT_ID, OPENID_CLIENT_SECRET and OPENID_NAME. Returns `undefined` if there is no
 * provider.
 */
export function openIdSettings(): OpenIdSettings | undefined {
  const issuer = textSetting('OPENID_ISSUER', undefined);
  if (issuer === undefined) return undefined;
  const url = URL.parse(issuer);
  if (!url || (url.protocol !== 'https:' && !isLoopback(url)))
    throw new Error(`Setting OPENID_ISSUER must be an https URL, got '${issuer}'.`);
  const clientId = textSetting('OPENID_CLIENT_ID', undefined);
  if (clientId === undefined) throw new Error('OPENID_ISSUER requires OPENID_CLIENT_ID.');
  const clientSecret = textSetting('OPENID_CLIENT_SECRET', undefined);
  return { issuer, clientId, clientSecret, name: textSetting('OPENID_NAME', undefined) };
}

/** Whether a provider runs on this machine, so that it needs no TLS. */
export function isLoopback({ protocol, hostname }: URL): boolean {
  return protocol === 'http:' && ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
}
