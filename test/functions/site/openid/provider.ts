import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import Provider from 'oidc-provider';

/** A person at the provider. */
export interface Person {
  readonly subject: string;
  readonly email: string;
  readonly email_verified: boolean;
}

export const CLIENT = { clientId: 'docmill', clientSecret: 'a-secret-of-the-client' } as const;

export interface TestProvider {
  readonly issuer: string;
  /** Who is signed in at the provider. */
  person: Person;
  /** Changes the responses of the token endpoint. */
  tamper: ((tokens: { id_token: string }) => void) | undefined;
  close(): void;
}

interface Shape {
  /** Path of the issuer. */
  readonly path?: string;
  /** Whether the client has no secret. */
  readonly isPublic?: boolean;
}

/** Starts a real provider on a free port, at which `person` is always signed in. `redirectUri` is read at the first request. */
export async function startProvider(
  redirectUri: () => string,
  { path = '', isPublic = false }: Shape = {},
): Promise<TestProvider> {
  const server = createServer();
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`;
  const people = new Map<string, Person>();
  const state: TestProvider = {
    issuer,
    person: { subject: 'alice', email: 'alice@example.com', email_verified: true },
    tamper: undefined,
    close: () => {
      server.closeAllConnections();
      server.close();
    },
  };
  const create = () =>
    new Provider(issuer, {
      clients: [
        {
          client_id: CLIENT.clientId,
          ...(isPublic ? { token_endpoint_auth_method: 'none' } : { client_secret: CLIENT.clientSecret }),
          redirect_uris: [redirectUri()],
          grant_types: ['authorization_code'],
        },
      ],
      claims: { openid: ['sub'], email: ['email', 'email_verified'] },
      // In the ID token, as Cognito and most others have them.
      conformIdTokenClaims: false,
      pkce: { required: () => true },
      features: { devInteractions: { enabled: false } },
      interactions: { url: (_: unknown, { uid }: { uid: string }) => `${path}/interaction/${uid}` },
      findAccount: (_: unknown, id: string) => ({
        accountId: id,
        claims: () => ({ sub: id, ...people.get(id) }),
      }),
      loadExistingGrant: async ({ oidc }: { oidc: GrantContext }) => {
        const grant = new oidc.provider.Grant({
          clientId: oidc.client.clientId,
          accountId: oidc.session.accountId,
        });
        grant.addOIDCScope('openid email');
        await grant.save();
        return grant;
      },
      ttl: { AccessToken: 60, Grant: 60, IdToken: 60, Interaction: 60, Session: 60 },
      cookies: { keys: ['a key'] },
      jwks: {
        keys: [generateKeyPairSync('rsa', { modulusLength: 2048 }).privateKey.export({ format: 'jwk' })],
      },
    });
  let opened: { provider: Provider; respond: RequestListener } | undefined;
  function open() {
    const provider = create();
    provider.use(async (context, next) => {
      await next();
      if (context.path === '/token') state.tamper?.(context.body as { id_token: string });
    });
    return { provider, respond: provider.callback() };
  }

  server.on('request', (request, response) => {
    opened ??= open();
    const { provider, respond } = opened;
    const { url = '' } = request;
    if (url.startsWith(`${path}/interaction/`)) {
      people.set(state.person.subject, state.person);
      const result = { login: { accountId: state.person.subject, remember: false } };
      return void provider.interactionFinished(request, response, result);
    }
    // As a framework does that mounts the provider at a path.
    request.url = url.slice(path.length);
    Object.assign(request, { originalUrl: url });
    respond(request, response);
  });
  return state;
}

interface GrantContext {
  readonly client: { readonly clientId: string };
  readonly session: { readonly accountId: string };
  readonly provider: {
    readonly Grant: new (values: object) => { addOIDCScope(scope: string): void; save(): Promise<string> };
  };
}
