import type { Configuration, CustomFetch } from 'openid-client';
import { isLoopback, type OpenIdSettings } from '../../shared/settings/service.ts';
import { HOUR } from '../../shared/time.ts';

/** A person as identified by the provider. */
export interface Identity {
  readonly issuer: string;
  readonly subject: string;
  /** Absent unless the provider has verified it. */
  readonly email?: string | undefined;
}

/** Secrets of one sign-in. Only the browser that began it can finish it. */
export interface Flow {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
}

interface Provider {
  /** Returns new secrets, and the URL at the provider that they belong to. */
  begin(): Promise<{ readonly flow: Flow; readonly url: string }>;
  /** Exchanges the code in the query of the redirect for an identity. @throws Error if a check fails. */
  finish(query: URLSearchParams, flow: Flow): Promise<Identity>;
}

/** Timeout of a request to the provider in seconds, and maximum bytes of its response. */
const REQUEST_TIME = 5;
const MAX_RESPONSE = 1_000_000;
/** How long the provider's endpoints are cached, in milliseconds. */
const METADATA_TIME = HOUR;

/** Creates the client of a provider. Its endpoints are read on the first sign-in. */
export function createProvider(settings: OpenIdSettings, redirectUri: string): Provider {
  let known: { readonly configuration: Promise<Configuration>; readonly until: number } | undefined;

  function discovered(): Promise<Configuration> {
    if (known && known.until > performance.now()) return known.configuration;
    const configuration = discover(settings);
    known = { configuration, until: performance.now() + METADATA_TIME };
    configuration.catch(() => (known = undefined));
    return configuration;
  }

  return {
    async begin() {
      const client = await loadClient();
      const configuration = await discovered();
      const flow = {
        state: client.randomState(),
        nonce: client.randomNonce(),
        verifier: client.randomPKCECodeVerifier(),
      };
      const url = client.buildAuthorizationUrl(configuration, {
        redirect_uri: redirectUri,
        scope: 'openid email',
        state: flow.state,
        nonce: flow.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(flow.verifier),
        code_challenge_method: 'S256',
      });
      return { flow, url: url.href };
    },

    async finish(query, { state, nonce, verifier }) {
      const client = await loadClient();
      const configuration = await discovered();
      const url = new URL(redirectUri);
      url.search = query.toString();
      const tokens = await client.authorizationCodeGrant(configuration, url, {
        expectedState: state,
        expectedNonce: nonce,
        pkceCodeVerifier: verifier,
        idTokenExpected: true,
      });
      const { iss: issuer, sub: subject, ...inToken } = tokens.claims()!;
      const claims =
        inToken.email === undefined && configuration.serverMetadata().userinfo_endpoint !== undefined
          ? await client.fetchUserInfo(configuration, tokens.access_token, subject)
          : inToken;
      // Some providers send the boolean as text.
      const isVerified = String(claims.email_verified) === 'true';
      return { issuer, subject, ...(isVerified && { email: String(claims.email) }) };
    },
  };
}

/** Loads the client on the first sign-in, because conversions never need it. */
const loadClient = () => import('openid-client');

async function discover({ issuer, clientId, clientSecret }: OpenIdSettings): Promise<Configuration> {
  const client = await loadClient();
  const authentication: Parameters<typeof client.discovery>[3] = (server, ...rest) => {
    if (clientSecret === undefined) return client.None()(server, ...rest);
    // Basic authentication is the default of OpenID Connect Discovery.
    const { token_endpoint_auth_methods_supported: methods = ['client_secret_basic'] } = server;
    const create = methods.includes('client_secret_basic')
      ? client.ClientSecretBasic
      : client.ClientSecretPost;
    create(clientSecret)(server, ...rest);
  };
  const url = new URL(issuer);
  return client.discovery(url, clientId, undefined, authentication, {
    [client.customFetch]: boundedFetch,
    timeout: REQUEST_TIME,
    execute: [
      // Also checks the signature of the ID token, although it comes directly from the provider.
      client.enableNonRepudiationChecks,
      ...(isLoopback(url) ? [client.allowInsecureRequests] : []),
    ],
  });
}

/**
 * Sends a request and rejects a response that is too large. The signal that the client passes limits its duration.
 */
const boundedFetch: CustomFetch = async (url, { body, signal, ...options }) => {
  const response = await fetch(url, {
    ...options,
    ...(body !== undefined && { body: body as string | URLSearchParams | null }),
    ...(signal && { signal }),
  });
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MAX_RESPONSE)
      throw new Error(`The response of the provider has more than ${MAX_RESPONSE} bytes.`);
    chunks.push(chunk);
  }
  const { status, headers } = response;
  return new Response(bytes === 0 ? null : Buffer.concat(chunks), { status, headers });
};
