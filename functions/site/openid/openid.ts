import { createHash, randomBytes } from 'node:crypto';
import type { Records } from '../../platform/stores.ts';
import type { HttpRequest } from '../../router/http.ts';
import { describe, type Log } from '../../shared/log.ts';
import type { OpenIdSettings } from '../../shared/settings/service.ts';
import { MINUTE } from '../../shared/time.ts';
import { cookieIn, cookieOf } from '../accounts/forms.ts';
import { identityRecord, type Members, readEmail } from '../accounts/members.ts';
import { createProvider, type Flow, type Identity } from './provider.ts';

/** The outcome of a sign-in: a session with the first API key of a new member, or a reason for failure. */
type SignedIn =
  | { readonly session: string; readonly apiKey?: string }
  | { readonly problem: 'failed' | 'expired' | 'unverified' | 'noAccount' | 'otherIdentity' | 'operator' };

interface OpenId {
  /** Name of the provider on the button. */
  readonly name: string;
  /**
   * Returns the URL at the provider, and a cookie that binds the sign-in to the browser. Returns `undefined` if the
   * provider fails.
   */
  begin(requestOrigin: string): Promise<{ readonly location: string; readonly cookie: string } | undefined>;
  /** Responds to the redirect from the provider. */
  finish(request: HttpRequest, requestOrigin: string): Promise<SignedIn>;
}

interface Dependencies {
  readonly settings: OpenIdSettings;
  readonly records: Records;
  readonly members: Members;
  /** URL of the site. The provider redirects to a path below it. */
  readonly origin: string;
  /** Whether everyone may become a member. */
  readonly isOpen: boolean;
  readonly log: Log;
}

/** The account that an identity signs in to. */
interface Binding {
  readonly account: string;
  /** The email address of the account. Later changes at the provider have no effect. */
  readonly email: string;
}

export const OPENID_PATHS = { begin: '/account/openid', finish: '/account/openid/callback' } as const;

/** Milliseconds until a sign-in must be finished. */
const FLOW_LIFETIME = 10 * MINUTE;
const FLOW_COOKIE = 'docmill-openid';

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');
const textOf = ({ issuer, subject }: Identity) => JSON.stringify([issuer, subject]);
const identityKey = (identity: Identity) => `openid#${hashOf(textOf(identity))}`;

/** Signs in with an OpenID Connect provider: authorization code with PKCE, state and nonce. */
export function createOpenId({ settings, records, members, origin, isOpen, log }: Dependencies): OpenId {
  const provider = createProvider(settings, `${origin}${OPENID_PATHS.finish}`);

  /** Returns a session of the account that an identity is bound to. */
  async function signInBound(identity: Identity): Promise<SignedIn | undefined> {
    const text = await records.get(identityKey(identity));
    if (text === undefined) return undefined;
    const { account, email } = JSON.parse(text) as Binding;
    // Deleting an account ends its binding.
    if ((await records.get(identityRecord(account))) !== textOf(identity)) return undefined;
    const { token } = await members.requestLink(email, false);
    return (await members.redeem(token)) ?? { problem: 'noAccount' };
  }

  /** Joins the account with a verified email address, or creates one if everyone may sign up. */
  async function join(identity: Identity): Promise<SignedIn> {
    const email = readEmail(identity.email ?? '');
    if (email === undefined) return { problem: 'unverified' };
    const { token } = await members.requestLink(email, isOpen);
    const signedIn = await members.redeem(token);
    if (!signedIn) return { problem: 'noAccount' };
    const { account } = (await members.find(signedIn.session))!;
    const bound = await records.get(identityRecord(account));
    const [issuer, subject] = bound === undefined ? [] : (JSON.parse(bound) as string[]);
    // The provider may have given the email address to another person meanwhile.
    if (issuer === identity.issuer && subject !== identity.subject) {
      await members.signOut(signedIn.session);
      return { problem: 'otherIdentity' };
    }
    await records.set(identityRecord(account), textOf(identity));
    await records.set(identityKey(identity), JSON.stringify({ account, email } satisfies Binding));
    return signedIn;
  }

  /** Rejects operators, who sign in with a link, so that whoever runs the provider cannot become one. */
  async function checkRole(signedIn: SignedIn): Promise<SignedIn> {
    if ('problem' in signedIn || !(await members.find(signedIn.session))?.role) return signedIn;
    await members.signOut(signedIn.session);
    return { problem: 'operator' };
  }

  return {
    name: settings.name ?? new URL(settings.issuer).host,

    async begin(requestOrigin) {
      try {
        const { flow, url } = await provider.begin();
        const token = randomBytes(16).toString('base64url');
        await records.add(`flow#${hashOf(token)}`, JSON.stringify(flow), Date.now() + FLOW_LIFETIME);
        return { location: url, cookie: cookieOf(requestOrigin, FLOW_COOKIE, token, FLOW_LIFETIME) };
      } catch (thrown) {
        log('sign-in provider failed', { cause: describe(thrown) }, 'error');
        return undefined;
      }
    },

    async finish(request, requestOrigin) {
      const token = cookieIn(request, requestOrigin, FLOW_COOKIE);
      const text = token === undefined ? undefined : await records.take(`flow#${hashOf(token)}`);
      if (text === undefined) return { problem: 'expired' };
      const query = new URLSearchParams(
        request.query.map(({ name, value }): [string, string] => [name, value]),
      );
      try {
        const identity = await provider.finish(query, JSON.parse(text) as Flow);
        return await checkRole((await signInBound(identity)) ?? (await join(identity)));
      } catch (thrown) {
        log('sign-in failed', { cause: describe(thrown) }, 'warn');
        return { problem: 'failed' };
      }
    },
  };
}
