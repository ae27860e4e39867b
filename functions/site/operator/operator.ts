import { randomUUID } from 'node:crypto';
import type { Account, AccountTable } from '../../platform/accounts.ts';
import type { AuditLog } from '../../platform/audit.ts';
import { createByOperator, restrict, settle } from '../../platform/keys/by-operator.ts';
import type { KeyRecord, Keys } from '../../platform/keys/keys.ts';
import type { SendMail } from '../../platform/smtp.ts';
import type { Failures } from '../../platform/usage/failures.ts';
import type { PriceRows } from '../../platform/usage/report.ts';
import type { Usage, UsageRow } from '../../platform/usage/usage.ts';
import type { HttpRequest } from '../../router/http.ts';
import { monthOf } from '../../shared/dates.ts';
import { describe, type Log } from '../../shared/log.ts';
import type { RateLimits } from '../../shared/rate-limits.ts';
import { type Member, type Members, readEmail } from '../accounts/members.ts';
import type { AccountReply, Action } from '../accounts/reply.ts';
import { html } from '../html.ts';
import type { Notice } from '../parts.ts';
import { TEXTS } from '../texts.ts';
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

const { operator: TEXT, account: ACCOUNT } = TEXTS;
/** Number of accounts per page. */
const LISTED = 25;

/** Creates the pages and forms that only operators can use. Each form appends to the audit log before it changes anything. */
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
    log: serviceLog,
  }: OperatorDependencies,
  members: Members,
) {
  const stores = { keys, accounts };
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

  async function overview({ query }: HttpRequest): Promise<AccountReply> {
    const requested = query.find(({ name }) => name === 'month')?.value ?? '';
    const month = /^20\d\d-(0[1-9]|1[0-2])$/.test(requested) ? requested : monthOf();
    const [state, rows, recent] = await Promise.all([
      operationSection(operation),
      usage.total(month),
      failures.recent(),
    ]);
    return reply(
      '/operator',
      TEXT.title,
      html`${state}${allUsage(priced(rows), month)}${failureSection(recent)}`,
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
      return reply('/operator/audit', TEXT.audit, auditPage(await audit.read(before), before === undefined));
    },
  };

  type Act = (act: {
    id: string;
    form: URLSearchParams;
    member: Member;
    log: (action: string, details?: string) => Promise<void>;
  }) => Promise<AccountReply>;

  /** Runs an action on the object that the field `id` names, or on `subject`. */
  const action =
    (act: Act, subject = (form: URLSearchParams) => form.get('id') ?? ''): Action =>
    (member, form, { ip = '' }) => {
      const id = subject(form);
      const log = (name: string, more = '') =>
        audit.append({ actor: member.email, action: name, subject: id, details: more, from: ip });
      return act({ id, form, member, log });
    };

  const onAccount = (name: string, change: (account: Account) => Promise<void>, mayBeOwn = true): Action =>
    action(async ({ id, member, log }) => {
      const account = await accounts.get(id);
      if (!account) return details(id);
      if (!mayBeOwn && id === member.account) return details(id, wrong(TEXT.self));
      await log(name);
      await change(account);
      return { status: 303, location: pathOf(id) };
    });

  const onKey = (
    act: (
      key: KeyRecord,
      form: URLSearchParams,
      log: (action: string, details?: string) => Promise<void>,
    ) => Promise<Feedback | undefined>,
  ): Action =>
    action(async ({ id, form, log }) => {
      const key = await keys.get(id);
      if (!key) return details('');
      const shown = await act(key, form, log);
      return shown ? details(key.account, shown) : { status: 303, location: pathOf(key.account) };
    });

  /** Creates a key for an account that exists, or for a new one. */
  const createKey = (name: string, account?: (form: URLSearchParams) => string): Action =>
    action(
      async ({ id, form, log }) => {
        if (account && !(await accounts.get(id))) return details(id);
        const limits = readLimits(form);
        const keyName = (form.get('name') ?? '').trim().slice(0, 60).replace(/\p{C}/gu, '');
        const refuse = (text: string) => (account ? details(id, wrong(text)) : list('', 1, wrong(text)));
        if (keyName === '') return refuse(TEXT.badName);
        if (!limits) return refuse(TEXT.badLimit);
        await log(name, [keyName, textOf(limits)].join(' ').trim());
        const { apiKey } = await createByOperator(
          stores,
          { name: keyName, account: id, limits },
          keys.create,
        );
        return details(id, { secret: apiKey });
      },
      account ?? (() => randomUUID()),
    );

  const forms: Readonly<Record<string, Action>> = {
    '/operator/accounts/create': createKey('create account'),
    '/operator/accounts/invite': action(
      async ({ id: email, log }) => {
        if (email === '') return list('', 1, wrong(ACCOUNT.badEmail));
        // Whoever sees the link could use it.
        if (!sendMail && (await members.isOperator(email))) return list('', 1, wrong(TEXT.operatorLink));
        await log('invite');
        const url = `${origin}/account/sign-in?token=${await members.invite(email)}`;
        if (!sendMail) return list('', 1, { secret: url });
        try {
          await sendMail({
            to: email,
            subject: ACCOUNT.invitationSubject,
            text: ACCOUNT.invitationText(url),
          });
          return list('', 1, { notice: { text: `${TEXT.invited} ${email}.` } });
        } catch (thrown) {
          serviceLog('email not sent', { cause: describe(thrown) }, 'error');
          return list('', 1, wrong(TEXT.mailFailed));
        }
      },
      (form) => readEmail(form.get('email') ?? '') ?? '',
    ),
    '/operator/accounts/disable': onAccount(
      'disable account',
      ({ id }) => accounts.update(id, { disabled: true, signedOut: Date.now() }),
      false,
    ),
    '/operator/accounts/enable': onAccount('enable account', ({ id }) =>
      accounts.update(id, { disabled: false }),
    ),
    '/operator/accounts/sign-out': onAccount('sign out', ({ id }) =>
      members.signOutEverywhere({ account: id }),
    ),
    '/operator/keys/create': createKey('create key', (form) => form.get('account') ?? ''),
    '/operator/keys/limits': onKey(async ({ account }, form, log) => {
      const limits = readLimits(form);
      if (!limits) return wrong(TEXT.badLimit);
      await log('change limits', textOf(limits));
      await restrict(stores, account, { ...(await accounts.get(account))?.restrictions, limits });
      return undefined;
    }),
    '/operator/keys/disable': onKey(async ({ id, account }, _form, log) => {
      await log('disable key');
      await keys.update(id, { disabled: true });
      await settle(stores, account);
      return undefined;
    }),
    '/operator/keys/enable': onKey(async ({ id }, _form, log) => {
      await log('enable key');
      await keys.update(id, { disabled: false });
      return undefined;
    }),
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

function textOf(limits: RateLimits): string {
  return Object.entries(limits)
    .map(([name, limit]) => `${name}=${limit}`)
    .join(' ');
}
