import { createHash } from 'node:crypto';
import { type JobPageDependencies, jobActions, readJobs } from '../../jobs/page.ts';
import { accountOfIp } from '../../platform/accounts.ts';
import { isValid, rotateKey } from '../../platform/keys.ts';
import type { Limiter } from '../../platform/limits.ts';
import type { HttpRequest } from '../../router/http.ts';
import { takeTurn } from '../../router/turn.ts';
import { describe, type Log } from '../../shared/log.ts';
import type { OpenIdSettings, RateLimits } from '../../shared/settings/service.ts';
import { DAY, HOUR, monthOf } from '../../shared/time.ts';
import { type Language, languageOf } from '../front-texts.ts';
import { createOpenId, OPENID_PATHS } from '../openid/openid.ts';
import { createOperator, type OperatorDependencies } from '../operator/operator.ts';
import type { Texts } from '../texts/en.ts';
import { TEXTS } from '../texts.ts';
import { type ErasableStores, eraseAccount } from './erase.ts';
import { type AccountReply, type Action, isOwnForm, readForm } from './forms.ts';
import { type Member, Members, readEmail, SESSION_LIFETIME } from './members.ts';
import { NewKeys } from './new-keys.ts';
import { accountPage, confirmPage, type SignUp, signInPage } from './pages.ts';

export interface AccountDependencies extends OperatorDependencies, ErasableStores, JobPageDependencies {
  readonly limiter: Limiter;
  readonly defaultLimits: RateLimits;
  readonly signUp: SignUp;
  /** Absent if nobody can sign in with an OpenID Connect provider. */
  readonly openId?: OpenIdSettings | undefined;
  readonly log: Log;
}

/** Says something in the language of a page. */
type Say = (text: Texts['account']) => string;
/** Where a new key is shown. */
const NEW_KEY = '/account#new-key';
/** Maximum valid keys and keys in all per account. Only the operator deletes keys, so that their limits persist. */
const MAX_KEYS = { valid: 20, all: 200 };
/**
 * Hourly limits: requested or used links per network; links sent to an email address for one network, and for all
 * networks from which nobody has signed in with it.
 */
const ATTEMPTS = { ip: 60, email: 5, strangers: 20 };

const hashOf = (text: string) => createHash('sha256').update(text).digest('hex');

/** Returns the name of the record that says that someone has signed in with an email address from a network. */
function signedInRecord(email: string, ip: string | undefined): string {
  return `signed-in#${hashOf(`${email} ${accountOfIp(ip)}`)}`;
}

/** Creates the handler of requests below `/account` and `/operator`. */
export function createAccounts(dependencies: AccountDependencies) {
  const { records, keys, usage, limiter, defaultLimits, signUp, sendMail, origin, log } = dependencies;
  const members = new Members(dependencies);
  const newKeys = new NewKeys(records);
  const operator = createOperator(dependencies, members);
  const openId =
    dependencies.openId &&
    createOpenId({
      settings: dependencies.openId,
      records,
      members,
      origin,
      log,
      isOpen: signUp === 'open',
    });
  /** Shows the page for signing in, with a message that is an error unless the status is 200. */
  const signIn = (status: number, say?: Say): AccountReply => ({
    status,
    main: (language) => {
      const ways = { signUp, hasMail: sendMail !== undefined, provider: openId?.name };
      const notice = say && { text: say(TEXTS[language].account), isError: status !== 200 };
      return signInPage(ways, language, notice);
    },
  });
  const home = { status: 303, location: '/account' };
  const expired = { status: 303, location: '/account?expired' };

  async function show(
    member: Member,
    { apiKey, refusal }: { apiKey?: string; refusal?: Say } = {},
  ): Promise<AccountReply> {
    const now = Date.now();
    const month = monthOf(now);
    const [own, account, used, rows, failures, jobs] = await Promise.all([
      keys.listOf(member.account),
      dependencies.accounts.get(member.account),
      limiter.used(member.account, now),
      usage.month(month, member.account),
      dependencies.failures.recent(member.account),
      readJobs(member.account, dependencies),
    ]);
    const limits = { ...defaultLimits, ...account?.restrictions.limits };
    const priced = dependencies.priceRows?.(rows) ?? rows;
    const facts = { member, keys: own, limits, used, month, rows: priced, failures, jobs };
    return {
      status: refusal ? 400 : 200,
      main: (language) => {
        const notice = refusal && { text: refusal(TEXTS[language].account), isError: true };
        return accountPage(facts, language, apiKey, notice);
      },
    };
  }

  /** Returns why a member cannot create another key, if so. */
  async function keyRefusal(member: Member): Promise<Say | undefined> {
    const own = await keys.listOf(member.account);
    const { expires = Infinity } = (await dependencies.accounts.get(member.account))?.restrictions ?? {};
    if (expires <= Date.now()) return (text) => text.accountExpired;
    if (own.length >= MAX_KEYS.all) return (text) => text.tooManyKeys.all;
    return own.filter(isValid).length < MAX_KEYS.valid ? undefined : (text) => text.tooManyKeys.valid;
  }

  /** Counts an attempt and returns whether it is allowed. */
  async function mayTry(who: string, perHour: number): Promise<boolean> {
    const call = { account: `sign-in:${who}`, limits: { perShortWindow: perHour }, shortWindow: HOUR };
    return (await limiter.admit({ ...call, expires: Date.now() })).admitted;
  }

  async function sendLink(email: string, language: Language): Promise<void> {
    const { token, isValid: isKnown } = await members.requestLink(email, signUp === 'open');
    if (!isKnown) return;
    const url = `${origin}/account/sign-in?token=${token}`;
    const { mailSubject, mailText } = TEXTS[language].account;
    const mail = { to: email, subject: mailSubject, text: mailText(url) };
    // Not awaited, because the duration would reveal whether someone is a member.
    sendMail?.(mail).catch((thrown: unknown) => log('email not sent', { cause: describe(thrown) }, 'error'));
  }

  async function requestLink(
    form: URLSearchParams,
    ip: string | undefined,
    language: Language,
  ): Promise<AccountReply> {
    const email = readEmail(form.get('email') ?? '');
    if (email === undefined) return signIn(400, (text) => text.badEmail);
    if (!sendMail) return signIn(404);
    const known = signedInRecord(email, ip);
    // The reply is always the same, so that nobody learns how often others have tried. They cannot use up the attempts
    // of a member who signs in from a known network.
    const isAllowed = await mayTry(known, ATTEMPTS.email);
    const isStranger = (await records.get(known)) === undefined;
    if (isAllowed && (!isStranger || (await mayTry(hashOf(email), ATTEMPTS.strangers))))
      await sendLink(email, language);
    return signIn(200, (text) => text.sent);
  }

  const logSignIn = ({ email, account }: Member, ip = '') =>
    dependencies.audit.append({ actor: email, action: 'sign in', subject: account, details: '', from: ip });

  async function useLink(
    form: URLSearchParams,
    session: string | undefined,
    ip: string | undefined,
  ): Promise<AccountReply> {
    const redeemed = await members.redeem(form.get('token') ?? '');
    if (!redeemed) return signIn(400, (text) => text.linkUsed);
    return enter(redeemed, session, ip);
  }

  /**
   * Replaces the session of a browser, and shows a new member their first key. Whoever was invited starts with the page
   * for everyone, and finds the key on the account page.
   */
  async function enter(
    { session, apiKey, isInvited }: NonNullable<Awaited<ReturnType<Members['redeem']>>>,
    before: string | undefined,
    ip: string | undefined,
  ): Promise<AccountReply> {
    await members.signOut(before);
    const member = (await members.find(session))!;
    if (member.role) await logSignIn(member, ip);
    const known = signedInRecord(member.email, ip);
    await records.take(known);
    await records.add(known, '', Date.now() + SESSION_LIFETIME);
    if (apiKey !== undefined) await newKeys.keep(session, apiKey);
    return {
      status: 303,
      location: member.role ? '/operator' : apiKey && !isInvited ? NEW_KEY : '/',
      session,
    };
  }

  /** Responds to the requests of a sign-in with the provider, or returns `undefined` for other requests. */
  async function useProvider(
    request: HttpRequest,
    requestOrigin: string,
    session: string | undefined,
  ): Promise<AccountReply | undefined> {
    const { path, header, ip } = request;
    if (!openId || (path !== OPENID_PATHS.begin && path !== OPENID_PATHS.finish)) return undefined;
    if (path === OPENID_PATHS.begin) {
      // This is a link, because a form may not be redirected to another site. Pages of other sites must not start a
      // sign-in either.
      if (!['same-origin', 'none', undefined].includes(header('sec-fetch-site'))) return home;
      if (!(await mayTry(accountOfIp(ip), ATTEMPTS.ip))) return signIn(429, (text) => text.tooMany);
      const begun = await openId.begin(requestOrigin);
      return begun ? { status: 303, ...begun } : signIn(502, (text) => text.providers.unavailable);
    }
    const signedIn = await openId.finish(request, requestOrigin);
    if ('problem' in signedIn) return signIn(400, ({ providers }) => providers[signedIn.problem]);
    return enter(signedIn, session, ip);
  }

  /** Runs an action on one of the member's own keys. */
  const onKey =
    (act: (id: string, member: Member, sent: Parameters<Action>[2]) => Promise<AccountReply>): Action =>
    async (member, form, sent) => {
      const key = (await keys.listOf(member.account)).find(({ id }) => id === form.get('id'));
      return key ? act(key.id, member, sent) : { ...(await show(member)), status: 404 };
    };

  const actions: Readonly<Record<string, Action>> = {
    '/account/sign-out-everywhere': async (member) => {
      await members.signOutEverywhere(member);
      return { ...home, session: '' };
    },
    '/account/keys': async (member, form, { session }) => {
      const refusal = await keyRefusal(member);
      if (refusal) return show(member, { refusal });
      const name = (form.get('name') ?? '').trim().slice(0, 60).replace(/\p{C}/gu, '') || 'key';
      const { apiKey } = await keys.create({ name, account: member.account });
      await newKeys.keep(session, apiKey);
      return { status: 303, location: NEW_KEY };
    },
    '/account/keys/rotate': onKey(async (id, member, { session }) => {
      const refusal = await keyRefusal(member);
      if (refusal) return show(member, { refusal });
      const created = await rotateKey(keys, id, DAY);
      if (!created) return home;
      await newKeys.keep(session, created.apiKey);
      return { status: 303, location: NEW_KEY };
    }),
    '/account/keys/disable': onKey(async (id) => {
      await keys.update(id, { disabled: true });
      return home;
    }),
    ...jobActions(dependencies, (session) => members.keyOf(session)),
    '/account/delete': async (member, form) => {
      if (readEmail(form.get('email') ?? '') !== member.email)
        return show(member, { refusal: (text) => text.deleteConfirm });
      await eraseAccount(member.account, dependencies);
      return { ...home, session: '' };
    },
  };

  /** Every form that only members can send, and the pages and forms for operators. */
  const forms: Readonly<Record<string, Action>> = { ...actions, ...operator.forms };
  const isForOperator = (path: string) => path === '/operator' || path.startsWith('/operator/');

  async function respond(
    request: HttpRequest,
    requestOrigin: string,
    session: string | undefined,
  ): Promise<AccountReply> {
    const { method, path, query, header } = request;
    const language = languageOf(header('accept-language'));
    const member = await members.find(session);
    if (member) await takeTurn(member.account);
    const isRead = method === 'GET' || method === 'HEAD';
    if (!isRead && method !== 'POST') return signIn(405);
    if (!isRead && !isOwnForm(request, requestOrigin)) return signIn(403, (text) => text.refused);
    // Other members get a 404, as if the pages did not exist.
    const isHidden = isForOperator(path) && member !== undefined && member.role !== 'operator';
    if (isHidden) return { status: 404, member };
    if (isRead) {
      if (path === '/account' && !member) {
        const isExpired = query.some(({ name }) => name === 'expired');
        return signIn(200, isExpired ? (text) => text.sessionExpired : undefined);
      }
      if (path === '/account') {
        // A request for the headers alone must not use up a view.
        const apiKey = method === 'GET' ? await newKeys.show(session) : undefined;
        return { ...(await show(member!, apiKey === undefined ? {} : { apiKey })), member };
      }
      const render = Object.hasOwn(operator.pages, path) ? operator.pages[path] : undefined;
      if (render && member) return { ...(await render(request)), member };
      const provided = await useProvider(request, requestOrigin, session);
      if (provided) return provided;
      const token = path === '/account/sign-in' && query.find(({ name }) => name === 'token')?.value;
      return token ? { status: 200, main: (wanted) => confirmPage(token, wanted) } : home;
    }
    const form = await readForm(request);
    if (!form) return signIn(413, (text) => text.refused);
    if (path === '/account/sign-out') {
      await members.signOut(session);
      return { ...home, session: '' };
    }
    const act = Object.hasOwn(forms, path) ? forms[path] : undefined;
    if (act && member && session !== undefined)
      return { ...(await act(member, form, { ip: request.ip, session, language })), member };
    if (act) return expired;
    const isLink = path === '/account/sign-in';
    // Counted separately, so that too many requests do not block using a link.
    const attempt = `${isLink ? 'link:' : ''}${accountOfIp(request.ip)}`;
    if (!(await mayTry(attempt, ATTEMPTS.ip))) return signIn(429, (text) => text.tooMany);
    if (path === '/account/link') return requestLink(form, request.ip, language);
    if (isLink) return useLink(form, session, request.ip);
    return signIn(404);
  }

  return {
    /** Paths of the pages, and paths of the forms that only a member can send. */
    pages: ['/account', '/account/sign-in', ...Object.keys(operator.pages)],
    forms: Object.keys(forms),

    memberOf: (session: string | undefined) => members.find(session),
    keyOf: (session: string | undefined) => members.keyOf(session),

    /** Whether a path is one of the account pages. */
    has: (path: string) => path === '/account' || path.startsWith('/account/') || isForOperator(path),

    /** Responds to a request. `session` is the session cookie that it was sent with. */
    async respond(
      request: HttpRequest,
      requestOrigin: string,
      session: string | undefined,
    ): Promise<AccountReply> {
      try {
        return await respond(request, requestOrigin, session);
      } catch (thrown) {
        log('page failed', { cause: describe(thrown) }, 'error');
        return { status: 500 };
      }
    },
  };
}
