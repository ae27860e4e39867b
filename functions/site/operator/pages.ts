import { type Account, lastUsedOf } from '../../platform/accounts.ts';
import type { KeyRecord } from '../../platform/keys.ts';
import type { AuditEntry } from '../../platform/stores.ts';
import type { Failure } from '../../platform/usage.ts';
import { type ReportedRow, sumRows } from '../../platform/usage-report.ts';
import type { RateLimits } from '../../shared/settings/service.ts';
import { monthOf } from '../../shared/time.ts';
import { stateOf } from '../accounts/pages.ts';
import { type Html, html } from '../html.ts';
import {
  button,
  codeList,
  count,
  dayText,
  failureTable,
  hidden,
  type Notice,
  noticeOf,
  secretOf,
  table,
  timeOf,
  usageSection,
  usedText,
} from '../parts.ts';
import { OPERATOR as TEXT, TEXTS } from '../texts.ts';

const ACCOUNT = TEXTS.en.account;

/** Limits in display order. */
export const LIMITS = ['perMinute', 'perMonth', 'concurrent'] as const satisfies ReadonlyArray<
  keyof RateLimits
>;

/** Returns a page for operators, with its navigation. */
export function operatorPage(path: string, title: string, main: Html, notice?: Notice): Html {
  const tabs = Object.entries(TEXT.tabs).map(
    ([each, name]) => html`<a href="${each}"${each === path && html` aria-current="page"`}>${name}</a>`,
  );
  return html`<nav class="tabs" aria-label="${TEXT.title}">${tabs}</nav><h1>${title}</h1>${noticeOf(notice)}${main}`;
}

/** Returns the path of the page of an account. */
export function pathOf(account: string): string {
  return `/operator/account?id=${encodeURIComponent(account)}`;
}

/** Returns the usage of all accounts in one month, with links to the adjacent months. */
export function allUsage(rows: readonly ReportedRow[], month: string): Html {
  const [year = 0, number = 1] = month.split('-').map(Number);
  const monthAt = (offset: number) => monthOf(Date.UTC(year, number - 1 + offset));
  const isLast = month >= monthOf();
  const tools = [...new Set(rows.map(({ tool }) => tool))].sort();
  const lines = tools.map((tool) => {
    const { conversions, failures, sourceBytes, resultBytes, pages } = sumRows(
      rows.filter((row) => row.tool === tool),
    );
    return html`<tr><th scope="row">${tool}</th><td>${count(conversions)}</td><td>${codeList(failures)}</td><td>${(sourceBytes / 1e6).toFixed(1)}</td><td>${(resultBytes / 1e6).toFixed(1)}</td><td>${count(pages)}</td></tr>`;
  });
  const heads = [
    ACCOUNT.tool,
    TEXT.conversions,
    TEXT.failed,
    TEXT.megabytes.source,
    TEXT.megabytes.result,
    TEXT.pages,
  ];
  return html`<h2 id="usage">${TEXT.usage}: ${month}</h2>${usageSection(rows, month)}${lines.length > 0 && table(TEXT.byTool, heads, lines)}
<p class="row"><a href="/operator?month=${monthAt(-1)}#usage">${TEXT.before}</a>${!isLast && html`<a href="/operator?month=${monthAt(1)}#usage">${TEXT.after}</a>`}</p>`;
}

/** Returns the recent failures of all accounts. `emails` are by account. */
export function failureSection(failures: readonly Failure[], emails: ReadonlyMap<string, string>): Html {
  const link = (account: string) => ({ path: pathOf(account), email: emails.get(account) });
  return html`<h2>${ACCOUNT.failures}</h2>${failureTable(failures, 'en', link)}`;
}

interface ListedAccount extends Account {
  readonly keys: readonly KeyRecord[];
}

/** Returns the page with accounts that a search found, and forms to add one. */
export function accountsPage(
  {
    accounts,
    search,
    page,
    pages,
  }: { accounts: readonly ListedAccount[]; search: string; page: number; pages: number },
  link?: string,
): Html {
  const rows = accounts.map(({ keys, ...account }) => {
    const { id, email, created, role, disabled } = account;
    const used = usedText(lastUsedOf(account, keys));
    const name = email ?? html`<span class="muted">${keys[0]?.name ?? TEXT.withoutEmail}</span>`;
    return html`<tr><th scope="row"><a href="${pathOf(id)}">${name}</a></th><td><code>${id}</code></td><td>${dayText(created)}</td><td>${used}</td><td>${keys.length}</td><td>${disabled ? TEXT.disabled : (role ?? TEXT.active)}</td></tr>`;
  });
  const heads = [ACCOUNT.email, TEXT.account, ACCOUNT.created, ACCOUNT.lastUsed, TEXT.keys, ACCOUNT.state];
  const to = (number: number, label: string) =>
    html`<a href="/operator/accounts?search=${encodeURIComponent(search)}&page=${number}">${label}</a>`;
  return html`${secretOf(TEXT.link, link, 'new-link')}
<form method="get" action="/operator/accounts" class="find"><input type="search" name="search" value="${search}" placeholder="${TEXT.searchHint}" aria-label="${TEXT.searchHint}"><button type="submit" class="secondary">${TEXT.search}</button></form>
${rows.length === 0 ? html`<p class="empty">${TEXT.none}</p>` : table(TEXT.accounts, heads, rows)}
<p class="row">${page > 1 && to(page - 1, TEXT.previous)}${pages > 1 && html`<span class="muted">${page} / ${pages}</span>`}${page < pages && to(page + 1, TEXT.next)}</p>
<div class="cards forms"><section><h2>${TEXT.invite}</h2>
<form method="post" action="/operator/accounts/invite"><label for="email">${ACCOUNT.email}</label><input id="email" name="email" type="email" required maxlength="254" aria-describedby="invite-hint"><small id="invite-hint">${TEXT.inviteHint}</small><button type="submit">${TEXT.sendInvitation}</button></form></section>
<section><h2>${TEXT.create}</h2>${keyForm('/operator/accounts/create', TEXT.create)}</section></div>`;
}

function limitInputs(id: string, limits: RateLimits): Html {
  const inputs = LIMITS.map(
    (name) =>
      html`<div><label for="${id}-${name}">${TEXT[name]}</label><input id="${id}-${name}" name="${name}" type="number" min="0" max="1000000000" value="${limits[name] ?? ''}"></div>`,
  );
  return html`<div class="limits">${inputs}</div>`;
}

function keyForm(action: string, label: string, values: Readonly<Record<string, string>> = {}): Html {
  return html`<form method="post" action="${action}">${hidden(values)}<label for="name">${ACCOUNT.keyName}</label><input id="name" name="name" required maxlength="60">${limitInputs('new', {})}<small>${TEXT.limitsHint}</small><button type="submit">${label}</button></form>`;
}

interface AccountFacts {
  readonly account: Account;
  readonly keys: readonly KeyRecord[];
  readonly month: string;
  readonly rows: readonly ReportedRow[];
  readonly failures: readonly Failure[];
}

/** Returns the page of one account, with everything that an operator can change. */
export function accountDetails(
  { account, keys, month, rows, failures }: AccountFacts,
  apiKey?: string,
): Html {
  const { id, email, created, role, disabled } = account;
  const state = disabled
    ? button('/operator/accounts/enable', TEXT.enable, { id })
    : button('/operator/accounts/disable', TEXT.disable, { id });
  return html`${secretOf(ACCOUNT.newKey, apiKey, 'new-key')}${disabled && html`<p class="notice bad">${TEXT.disabledLead}</p>`}
<p>${TEXT.account} <code>${id}</code>, ${role ?? (email === undefined ? TEXT.withoutEmail : TEXT.active)}. ${ACCOUNT.created} ${dayText(created)}, ${ACCOUNT.lastUsed.toLowerCase()}: ${usedText(lastUsedOf(account, keys))}.</p>
<div class="row">${state}${email !== undefined && button('/operator/accounts/sign-out', TEXT.signOut, { id })}</div>
<h2>${ACCOUNT.keys}</h2>${keys.length === 0 ? html`<p class="empty">${ACCOUNT.noKeys}</p>` : html`<div class="cards keys">${keys.map(keyCard)}</div><p class="muted">${TEXT.limitsHint}</p>`}
<h2>${ACCOUNT.create}</h2><div class="narrow">${keyForm('/operator/keys/create', ACCOUNT.create, { account: id })}</div>
<h2>${ACCOUNT.usage}</h2>${usageSection(rows, month)}
<h2>${ACCOUNT.failures}</h2>${failureTable(failures)}`;
}

function keyCard(key: KeyRecord): Html {
  const { id, name, created, lastUsed, limits, disabled } = key;
  const [action, label] = disabled ? ['enable', TEXT.enableKey] : ['disable', ACCOUNT.disable];
  return html`<article><h3>${name}</h3><p><code>${id}</code> ${stateOf(key)}</p><p>${ACCOUNT.created} ${dayText(created)}, ${ACCOUNT.lastUsed.toLowerCase()}: ${usedText(lastUsed)}</p>
<form method="post" action="/operator/keys/limits">${hidden({ id })}${limitInputs(id, limits)}<div class="row"><button type="submit" aria-label="${TEXT.save} ${name}">${TEXT.save}</button><button type="submit" class="secondary" formaction="/operator/keys/${action}" formnovalidate aria-label="${label} ${name}">${label}</button></div></form></article>`;
}

/** Returns a page of the audit log, starting at its newest entry or at an older one. */
export function auditPage(
  entries: readonly AuditEntry[],
  emails: ReadonlyMap<string, string>,
  isNewest: boolean,
): Html {
  if (entries.length === 0 && isNewest) return html`<p class="empty">${TEXT.noAudit}</p>`;
  const rows = entries.map(
    ({ number, time, actor, action, subject, details, from }) =>
      html`<tr><td>${number}</td><td>${timeOf(time)}</td><td>${actor}</td><td>${action}</td><td>${emails.get(subject)} <code>${subject}</code></td><td>${details}</td><td>${from}</td></tr>`,
  );
  const heads = [TEXT.number, ACCOUNT.time, TEXT.who, TEXT.action, TEXT.subject, TEXT.details, TEXT.from];
  const last = entries.at(-1)?.number ?? 1;
  return html`<p class="muted">${TEXT.auditLead}</p>${table(TEXT.audit, heads, rows)}
<p class="row">${!isNewest && html`<a href="/operator/audit">${TEXT.newer}</a>`}${last > 1 && html`<a href="/operator/audit?before=${last}">${TEXT.older}</a>`}</p>`;
}
