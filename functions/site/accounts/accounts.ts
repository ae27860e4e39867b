import { createHash } from 'node:crypto';
import { isValid, type Keys, type RateLimits, rotateKey } from '../../platform/keys/keys.ts';
import type { Limiter } from '../../platform/limits/limits.ts';
import type { SendMail } from '../../platform/mail/smtp.ts';
import type { Records } from '../../platform/records/records.ts';
import type { PriceRows } from '../../platform/usage/report.ts';
import type { Usage } from '../../platform/usage/usage.ts';
import { demoAccount } from '../../router/accounts/demo.ts';
import type { HttpRequest } from '../../router/route.ts';
import { describe, type Log } from '../../shared/log.ts';
import type { OpenIdSettings } from '../../shared/settings/openid.ts';
import type { Html } from '../html.ts';
import { createOpenId, OPENID_PATHS } from '../openid/openid.ts';
import { TEXTS } from '../texts.ts';
import { type Member, Members, readEmail, SESSION_LIFETIME } from './members.ts';
import { accountPage, confirmPage, type Notice, type SignUp, signInPage } from './pages.ts';

export interface AccountDependencies {
  readonly records: Records;
  readonly keys: Keys;
  readonly usage: Usage;
  readonly priceRows?: PriceRows | undefined;
  readonly limiter: Limiter;
  readonly defaultLimits: RateLimits;
  readonly signUp: SignUp;
  /** Absent if the service sends no mail. */
  readonly sendMail?: SendMail | undefined;
  /** Absent if nobody can sign in with an OpenID Connect provider. */
  readonly openId?: OpenIdSettings | undefined;
  /** Origin of the links in mails. It comes from a setting, because anyone can send another host name. */
  readonly origin: string;
  readonly log: Log;
}

/** A page, or a redirect to `location` after a form. */
export interface AccountReply {
  readonly status: number;
  readonly main?: Html;
  readonly location?: string;
  /** A session that begins, or an empty text for one that ends. */
  readonly session?: string;
  /** A further cookie, of a reply without a session. */
  readonly cookie?: string;
}

const { account: TEXT } = TEXTS;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const MAX_FORM = 4096;
/** Milliseconds in which a form must have arrived. */
const FORM_TIME = 10_000;
/** Keys of an account that are valid, and all of them: nobody but the operator deletes one, so that its limits last. */
const MAX_KEYS = { valid: 20, all: 200 };
/** Links that are requested or used in an hour from one IP address, and links that one person is sent. */
const ATTEMPTS = { ip: 60, email: 5 };

/** Responds to the requests below `/account`. */
export function createAccounts(dependencies: AccountDependencies) {
  const { records, keys, usage, limiter, defaultLimits, signUp, sendMail, origin, log } = dependencies;
  const members = new Members(records, keys);
  const openId =
    dependencies.openId &&
    createOpenId({
      ...{ settings: dependencies.openId, records, members, origin, log },
      isOpen: signUp === 'open',
    });
  const signIn = (status: number, notice?: Notice): AccountReply => ({
    status,
    main: signInPage({ signUp, hasMail: sendMail !== undefined, provider: openId?.name }, notice),
  });
  const home = { status: 303, location: '/account' };
  const wrong = (text: string): Notice => ({ text, isError: true });

  async function show(
    member: Member,
    more: { apiKey?: string; notice?: Notice } = {},
  ): Promise<AccountReply> {
    const now = Date.now();
    const month = new Date(now).toISOString().slice(0, 7);
    const [own, used, rows] = await Promise.all([
      keysOf(member),
      limiter.used(member.account, now),
      usage.month(month, member.account),
    ]);
    const limits = { ...defaultLimits, ...own.find(isValid)?.limits };
    const priced = dependencies.priceRows?.(rows) ?? rows;
    const facts = { member, keys: own, limits, used, month, rows: priced };
    return {
      status: more.notice?.isError ? 400 : 200,
      main: accountPage(facts, more.apiKey, more.notice),
    };
  }

  async function keysOf({ account }: Member) {
    return (await keys.list()).filter((key) => key.account === account);
  }

  async function mayCreate(member: Member): Promise<boolean> {
    const own = await keysOf(member);
    return own.length < MAX_KEYS.all && own.filter(isValid).length < MAX_KEYS.valid;
  }

  /** Counts an attempt, and returns whether there may be one. */
  async function mayTry(who: string, perHour: number): Promise<boolean> {
    const call = { account: `sign-in:${who}`, limits: { perShortWindow: perHour }, shortWindow: HOUR };
    return (await limiter.admit({ ...call, expires: Date.now() })).admitted;
  }

  async function sendLink(email: string): Promise<void> {
    const { token, isValid: isKnown } = await members.requestLink(email, signUp === 'open');
    if (!isKnown) return;
    const url = `${origin}/account/sign-in?token=${token}`;
    const mail = { to: email, subject: TEXT.mailSubject, text: TEXT.mailText(url) };
    // Not awaited: how long it takes would tell whether someone is a member.
    sendMail?.(mail).catch((thrown: unknown) => log('mail not sent', { cause: describe(thrown) }, 'error'));
  }

  async function requestLink(form: URLSearchParams): Promise<AccountReply> {
    const email = readEmail(form.get('email') ?? '');
    if (email === undefined) return signIn(400, wrong(TEXT.badEmail));
    if (!sendMail) return signIn(404);
    const hash = createHash('sha256').update(email).digest('hex');
    // The reply is the same, so that nobody learns how often others tried.
    if (await mayTry(hash, ATTEMPTS.email)) await sendLink(email);
    return signIn(200, { text: TEXT.sent });
  }

  async function useLink(form: URLSearchParams, session: string | undefined): Promise<AccountReply> {
    const redeemed = await members.redeem(form.get('token') ?? '');
    if (!redeemed) return signIn(400, wrong(TEXT.linkUsed));
    return enter(redeemed, session);
  }

  /** Replaces the session of a browser, and shows a new member the first key. */
  async function enter(
    { session, apiKey }: { readonly session: string; readonly apiKey?: string },
    before: string | undefined,
  ): Promise<AccountReply> {
    await members.signOut(before);
    if (apiKey === undefined) return { ...home, session };
    const member = (await members.find(session))!;
    return { ...(await show(member, { apiKey })), session };
  }

  /** Responds to the requests of a sign-in with the provider, or returns `undefined` for others. */
  async function useProvider(
    request: HttpRequest,
    base: string,
    session: string | undefined,
  ): Promise<AccountReply | undefined> {
    const { path, header, ip } = request;
    if (!openId || (path !== OPENID_PATHS.begin && path !== OPENID_PATHS.finish)) return undefined;
    if (path === OPENID_PATHS.begin) {
      // A link, not a form: a form may not be redirected to another site. Pages of other sites may not begin a sign-in either.
      if (!['same-origin', 'none', undefined].includes(header('sec-fetch-site'))) return home;
      if (!(await mayTry(demoAccount(ip), ATTEMPTS.ip))) return signIn(429, wrong(TEXT.tooMany));
      const begun = await openId.begin(base);
      return begun ? { status: 303, ...begun } : signIn(502, wrong(TEXT.providers.unavailable));
    }
    const signedIn = await openId.finish(request, base);
    if ('problem' in signedIn) return signIn(400, wrong(TEXT.providers[signedIn.problem]));
    return enter(signedIn, session);
  }

  type Action = (member: Member, form: URLSearchParams) => Promise<AccountReply>;

  /** Runs an action on a key of the member. Keys of others do not exist for it. */
  const onKey =
    (act: (id: string, member: Member) => Promise<AccountReply>): Action =>
    async (member, form) => {
      const key = (await keysOf(member)).find(({ id }) => id === form.get('id'));
      return key ? act(key.id, member) : { ...(await show(member)), status: 404 };
    };

  const actions: Readonly<Record<string, Action>> = {
    '/account/sign-out-everywhere': async (member) => {
      await members.signOutEverywhere(member);
      return { ...home, session: '' };
    },
    '/account/keys': async (member, form) => {
      if (!(await mayCreate(member))) return show(member, { notice: wrong(TEXT.tooManyKeys) });
      const name = (form.get('name') ?? '').trim().slice(0, 60).replace(/\p{C}/gu, '') || 'key';
      // A further key has the limits of the first, which an operator may have changed.
      const limits = (await keysOf(member))[0]?.limits ?? {};
      const { apiKey } = await keys.create({ name, account: member.account, limits });
      return show(member, { apiKey });
    },
    '/account/keys/rotate': onKey(async (id, member) => {
      if (!(await mayCreate(member))) return show(member, { notice: wrong(TEXT.tooManyKeys) });
      const created = await rotateKey(keys, id, DAY);
      return show(member, created && { apiKey: created.apiKey });
    }),
    '/account/keys/disable': onKey(async (id) => {
      await keys.update(id, { disabled: true });
      return home;
    }),
    '/account/delete': async (member, form) => {
      if (readEmail(form.get('email') ?? '') !== member.email)
        return show(member, { notice: wrong(TEXT.deleteConfirm) });
      await members.remove(member);
      return { ...home, session: '' };
    },
  };

  return {
    members,
    /** Paths of the forms that only a member can send. */
    forms: Object.keys(actions),

    /** Whether a path is one of the account pages. */
    has: (path: string) => path === '/account' || path.startsWith('/account/'),

    /** Responds to a request. `session` is the one that it was sent with. */
    async respond(request: HttpRequest, base: string, session: string | undefined): Promise<AccountReply> {
      const { method, path, query } = request;
      const member = await members.find(session);
      if (method === 'GET' || method === 'HEAD') {
        if (path === '/account') return member ? show(member) : signIn(200);
        const provided = await useProvider(request, base, session);
        if (provided) return provided;
        const token = path === '/account/sign-in' && query.find(({ name }) => name === 'token')?.value;
        return token ? { status: 200, main: confirmPage(token) } : home;
      }
      if (method !== 'POST') return { ...signIn(405) };
      if (!isOwnForm(request, base)) return signIn(403, wrong(TEXT.refused));
      const form = await readForm(request);
      if (!form) return signIn(413, wrong(TEXT.refused));
      if (path === '/account/sign-out') {
        await members.signOut(session);
        return { ...home, session: '' };
      }
      const act = Object.hasOwn(actions, path) ? actions[path] : undefined;
      if (act) return member ? act(member, form) : home;
      if (!(await mayTry(demoAccount(request.ip), ATTEMPTS.ip))) return signIn(429, wrong(TEXT.tooMany));
      if (path === '/account/link') return requestLink(form);
      if (path === '/account/sign-in') return useLink(form, session);
      return signIn(404);
    },
  };
}

/** Whether a form was sent from a page of this site. Browsers say so, and no page of another site can change it. */
function isOwnForm({ header }: HttpRequest, base: string): boolean {
  const origin = URL.parse(header('origin') ?? '');
  const site = header('sec-fetch-site');
  return origin?.host === new URL(base).host && (site === undefined || site === 'same-origin');
}

/** Reads a form to its end, so that a client that is still sending gets the reply. Returns `undefined` if it is too long or late. */
async function readForm({ body }: HttpRequest): Promise<URLSearchParams | undefined> {
  let text = '';
  const late = setTimeout(() => body?.destroy(), FORM_TIME);
  try {
    for await (const chunk of body ?? []) if (text.length <= MAX_FORM) text += String(chunk);
  } catch {
    return undefined;
  } finally {
    clearTimeout(late);
  }
  return text.length > MAX_FORM ? undefined : new URLSearchParams(text);
}

/** The cookie of a session, whose name keeps other hosts from setting it if it is sent over TLS only. */
export function sessionCookie(base: string, session: string): string {
  const isSecure = base.startsWith('https:');
  const life = session === '' ? 0 : SESSION_LIFETIME / 1000;
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${life}${isSecure ? '; Secure' : ''}`;
  return `${cookieName(isSecure)}=${session}; ${attributes}`;
}

/** Reads the session that a request was sent with. */
export function sessionIn({ header }: HttpRequest, base: string): string | undefined {
  const name = cookieName(base.startsWith('https:'));
  const pairs = (header('cookie') ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([key]) => key === name)?.[1];
}

function cookieName(isSecure: boolean): string {
  return isSecure ? '__Host-docmill' : 'docmill';
}
