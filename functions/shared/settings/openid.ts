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
