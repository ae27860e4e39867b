import { randomUUID } from 'node:crypto';
import type { AccountTable } from '../../platform/accounts.ts';
import type { KeyRecord, Keys } from '../../platform/keys.ts';
import type { SendMail } from '../../platform/smtp.ts';
import type { AuditLog } from '../../platform/stores.ts';
import type { Failures, Usage, UsageRow } from '../../platform/usage.ts';
import type { PriceRows } from '../../platform/usage-report.ts';
import type { HttpRequest } from '../../router/http.ts';
import { describe, type Log } from '../../shared/log.ts';
import type { RateLimits } from '../../shared/settings/service.ts';
import { monthOf } from '../../shared/time.ts';
import type { AccountReply, Action } from '../accounts/forms.ts';
import { type Member, type Members, readEmail } from '../accounts/members.ts';
import type { Language } from '../front-texts.ts';
import { html } from '../html.ts';
import type { Notice } from '../parts.ts';
import { OPERATOR as TEXT, TEXTS } from '../texts.ts';
import { createOperations, type Operations } from './operations.ts';
import { type Operation, operationSection } from './overview.ts';
import {
  accountDetails,
  accountsPage,
  allUsage,
  auditPage,
  failureSection,
  LIMITS,
  operatorPage,
  pathOf,
} from './pages.ts';

export interface OperatorDependencies {
  readonly accounts: AccountTable;
  readonly keys: Keys;
  readonly usage: Usage;
  readonly failures: Failures;
  readonly audit: AuditLog;
  readonly priceRows?: PriceRows | undefined;
  readonly operation: Operation;
  readonly sendMail?: SendMail | undefined;
  readonly origin: string;
  readonly log: Log;
}

type Page = (request: HttpRequest) => Promise<AccountReply>;

interface Feedback {
  readonly notice?: Notice;
  /** A secret that is shown only once. */
  readonly secret?: string;
}

/** Number of accounts per page. */
const LISTED = 25;

/** Creates the pages and forms that only operators can use. */
export function createOperator(
  {
    accounts,
    keys,
    usage,
    failures,
    audit,
    priceRows,
    operation,
    sendMail,
    origin,
    log,
  }: OperatorDependencies,
  members: Members,
) {
  const wrong = (text: string): Feedback => ({ notice: { text, isError: true } });
  const reply = (
    path: string,
    title: string,
    main: Parameters<typeof operatorPage>[2],
    { notice }: Feedback = {},
  ): AccountReply => ({
    status: notice?.isError ? 400 : 200,
    title,
    main: operatorPage(path, title, main, notice),
  });
  const priced = (rows: readonly UsageRow[]) => priceRows?.(rows) ?? rows;

  /** Returns the email addresses of those IDs that belong to an account with one. */
  async function emailsOf(ids: readonly string[]): Promise<ReadonlyMap<string, string>> {
    const found = await Promise.all([...new Set(ids)].map((id) => accounts.get(id)));
    return new Map(found.flatMap((each) => (each?.email ? [[each.id, each.email]] : [])));
  }

  async function overview({ query }: HttpRequest): Promise<AccountReply> {
    const requested = query.find(({ name }) => name === 'month')?.value ?? '';
    const month = /^20\d\d-(0[1-9]|1[0-2])$/.test(requested) ? requested : monthOf();
    const [state, rows, recent] = await Promise.all([
      operationSection(operation),
      usage.total(month),
      failures.recent(),
    ]);
    const emails = await emailsOf(recent.map(({ account }) => account));
    return reply(
      '/operator',
      TEXT.title,
      html`${state}${allUsage(priced(rows), month)}${failureSection(recent, emails)}`,
    );
  }

  async function list(search: string, wanted: number, shown: Feedback = {}): Promise<AccountReply> {
    const page = Math.min(1e6, Math.max(1, Math.trunc(wanted) || 1));
    const found = await accounts.search(search, LISTED * (page - 1), LISTED);
    const listed = await Promise.all(
      found.accounts.map(async (account) => ({ ...account, keys: await keys.listOf(account.id) })),
    );
    const pages = Math.max(1, Math.ceil(found.total / LISTED));
    return reply(
      '/operator/accounts',
      TEXT.accounts,
      accountsPage({ accounts: listed, search, page, pages }, shown.secret),
      shown,
    );
  }

  async function details(id: string, shown: Feedback = {}): Promise<AccountReply> {
    const account = await accounts.get(id);
    if (!account) return { ...(await list('', 1)), status: 404 };
    const month = monthOf();
    const [own, rows, recent] = await Promise.all([
      keys.listOf(id),
      usage.month(month, id),
      failures.recent(id),
    ]);
    const facts = { account, keys: own, month, rows: priced(rows), failures: recent };
    return reply(
      '/operator/accounts',
      account.email ?? own[0]?.name ?? TEXT.account,
      accountDetails(facts, shown.secret),
      shown,
    );
  }

  const pages: Readonly<Record<string, Page>> = {
    '/operator': overview,
    '/operator/accounts': ({ query }) => {
      const value = (wanted: string) => query.find(({ name }) => name === wanted)?.value ?? '';
      return list(value('search').trim().slice(0, 100), Number(value('page')));
    },
    '/operator/account': ({ query }) => details(query.find(({ name }) => name === 'id')?.value ?? ''),
    '/operator/audit': async ({ query }) => {
      const text = query.find(({ name }) => name === 'before')?.value ?? '';
      const before = /^\d{1,15}$/.test(text) ? Number(text) : undefined;
      const entries = await audit.read(before);
      const emails = await emailsOf(entries.map(({ subject }) => subject));
      return reply('/operator/audit', TEXT.audit, auditPage(entries, emails, before === undefined));
    },
  };

  type Act = (act: {
    id: string;
    form: URLSearchParams;
    member: Member;
    operations: Operations;
    language: Language;
  }) => Promise<AccountReply>;

  /** Runs an action on the object that the field `id` names. */
  const action =
    (act: Act): Action =>
    (member, form, { ip = '', language }) => {
      const operations = createOperations(
        { accounts, keys, audit, members },
        { actor: member.email, from: ip },
      );
      return act({ id: form.get('id') ?? '', form, member, operations, language });
    };

  const onAccount = (
    act: (operations: Operations, id: string) => Promise<unknown>,
    mayBeOwn = true,
  ): Action =>
    action(async ({ id, member, operations }) => {
      const account = await accounts.get(id);
      if (!account) return details(id);
      if (!mayBeOwn && id === member.account) return details(id, wrong(TEXT.self));
      await act(operations, id);
      return { status: 303, location: pathOf(id) };
    });

  const onKey = (
    act: (operations: Operations, key: KeyRecord, limits: RateLimits) => Promise<unknown>,
  ): Action =>
    action(async ({ id, form, operations }) => {
      const key = await keys.get(id);
      if (!key) return details('');
      const limits = readLimits(form);
      if (!limits) return details(key.account, wrong(TEXT.badLimit));
      await act(operations, key, limits);
      return { status: 303, location: pathOf(key.account) };
    });

  /** Creates a key for an account that exists, or for a new one. */
  const createKey = (isNew: boolean): Action =>
    action(async ({ form, operations }) => {
      const account = isNew ? randomUUID() : (form.get('account') ?? '');
      if (!isNew && !(await accounts.get(account))) return details(account);
      const limits = readLimits(form);
      const name = (form.get('name') ?? '').trim().slice(0, 60).replace(/\p{C}/gu, '');
      const refuse = (text: string) => (isNew ? list('', 1, wrong(text)) : details(account, wrong(text)));
      if (name === '') return refuse(TEXT.badName);
      if (!limits) return refuse(TEXT.badLimit);
      const key = { name, account, limits };
      const { apiKey } = await operations.createKey(key, isNew ? 'create account' : 'create key');
      return details(account, { secret: apiKey });
    });

  const forms: Readonly<Record<string, Action>> = {
    '/operator/accounts/create': createKey(true),
    '/operator/accounts/invite': action(async ({ form, operations, language }) => {
      const { invitationSubject: subject, invitationText } = TEXTS[language].account;
      const email = readEmail(form.get('email') ?? '');
      if (email === undefined) return list('', 1, wrong(TEXTS.en.account.badEmail));
      // Whoever sees the link could use it.
      if (!sendMail && (await members.isOperator(email))) return list('', 1, wrong(TEXT.operatorLink));
      const url = `${origin}/account/sign-in?token=${await operations.invite(email)}`;
      if (!sendMail) return list('', 1, { secret: url });
      try {
        // The best guess at the language of somebody unknown.
        await sendMail({ to: email, subject, text: invitationText(url) });
        return list('', 1, { notice: { text: `${TEXT.invited} ${email}.` } });
      } catch (thrown) {
        log('email not sent', { cause: describe(thrown) }, 'error');
        return list('', 1, wrong(TEXT.mailFailed));
      }
    }),
    '/operator/accounts/disable': onAccount((operations, id) => operations.disableAccount(id), false),
    '/operator/accounts/enable': onAccount((operations, id) => operations.enableAccount(id)),
    '/operator/accounts/sign-out': onAccount((operations, id) => operations.signOut(id)),
    '/operator/keys/create': createKey(false),
    '/operator/keys/limits': onKey((operations, { id, account }, limits) => {
      const all = { perMinute: null, perMonth: null, concurrent: null, ...limits };
      return operations.restrict(account, { limits: all }, id);
    }),
    '/operator/keys/disable': onKey((operations, { id }) => operations.disableKey(id)),
    '/operator/keys/enable': onKey((operations, { id }) => operations.enableKey(id)),
  };

  return { pages, forms };
}

/** Reads the limits of a form. Returns `undefined` if any is invalid. An empty limit means the default. */
function readLimits(form: URLSearchParams): RateLimits | undefined {
  const limits = LIMITS.map((name) => [name, (form.get(name) ?? '').trim()] as const).filter(
    ([, text]) => text !== '',
  );
  if (limits.some(([, text]) => !/^\d{1,10}$/.test(text) || Number(text) > 1e9)) return undefined;
  return Object.fromEntries(limits.map(([name, text]) => [name, Number(text)]));
}
