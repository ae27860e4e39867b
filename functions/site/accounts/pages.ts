import { isValid, type KeyRecord } from '../../platform/keys.ts';
import type { Used } from '../../platform/limits.ts';
import type { Failure } from '../../platform/usage.ts';
import type { ReportedRow } from '../../platform/usage-report.ts';
import type { RateLimits } from '../../shared/settings/service.ts';
import { dayOf } from '../../shared/time.ts';
import { type Html, html, withCode } from '../html.ts';
import { OPENID_PATHS } from '../openid/openid.ts';
import {
  button,
  count,
  failureTable,
  figure,
  type Notice,
  noticeOf,
  secretOf,
  table,
  usageSection,
} from '../parts.ts';
import { TEXTS } from '../texts.ts';
import type { Member } from './members.ts';

const { account: TEXT } = TEXTS;

/** Who may become a member: everyone, only people with an invitation, or nobody. */
export type SignUp = keyof typeof TEXT.signInLead;

interface SignInWays {
  readonly signUp: SignUp;
  /** Whether sign-in links are sent by email. */
  readonly hasMail: boolean;
  /** Name of the OpenID Connect provider. */
  readonly provider?: string | undefined;
}

/** Returns the page for visitors who are not signed in. */
export function signInPage({ signUp, hasMail, provider }: SignInWays, notice?: Notice): Html {
  const link =
    provider !== undefined &&
    html`<p><a class="button" href="${OPENID_PATHS.begin}">${TEXT.signInWith} ${provider}</a></p>`;
  const form = html`<p>${TEXT.signInLead[signUp]}</p>
<form method="post" action="/account/link" class="narrow"><label for="email">${TEXT.email}</label><input id="email" name="email" type="email" autocomplete="email" required maxlength="254"><button type="submit">${TEXT.sendLink}</button></form>`;
  const mail = hasMail ? form : !link && html`<p>${withCode(TEXT.noMail)}</p>`;
  return html`<h1>${TEXT.signIn}</h1>${noticeOf(notice)}${link}${mail}`;
}

/** Returns the page that a link opens. A button redeems the link, because email scanners open every URL. */
export function confirmPage(token: string): Html {
  return html`<h1>${TEXT.signIn}</h1><p>${TEXT.confirm}</p>
<form method="post" action="/account/sign-in" class="narrow"><input type="hidden" name="token" value="${token}"><button type="submit">${TEXT.signIn}</button></form>`;
}

interface AccountFacts {
  readonly member: Member;
  readonly keys: readonly KeyRecord[];
  readonly limits: RateLimits;
  readonly used: Used;
  readonly month: string;
  readonly rows: readonly ReportedRow[];
  readonly failures: readonly Failure[];
}

/** Returns the account page of a member. `apiKey` is a key that was just created. */
export function accountPage(facts: AccountFacts, apiKey?: string, notice?: Notice): Html {
  const { member, keys, limits, used, rows, month, failures } = facts;
  return html`<hgroup><h1>${TEXT.title}</h1><p>${TEXT.signedInAs} <strong>${member.email}</strong></p></hgroup>
<div class="row">${button('/account/sign-out', TEXT.signOut)}${button('/account/sign-out-everywhere', TEXT.signOutEverywhere)}</div>
${noticeOf(notice)}${secretOf(TEXT.newKey, apiKey, 'new-key')}
<h2>${TEXT.left}</h2><div class="cards">${left(TEXT.month, limits.perMonth, used.month)}${left(TEXT.minute, limits.perMinute, used.short)}</div>
<h2>${TEXT.keys}</h2>${keyTable(keys)}
<form method="post" action="/account/keys" class="narrow"><label for="name">${TEXT.keyName}</label><input id="name" name="name" required maxlength="60"><button type="submit">${TEXT.create}</button></form>
<h2>${TEXT.usage}</h2>${usageSection(rows, month)}
<h2>${TEXT.failures}</h2>${failureTable(failures)}
<h2>${TEXT.deleteTitle}</h2><p>${TEXT.deleteLead}</p>
<form method="post" action="/account/delete" class="narrow"><label for="confirm">${TEXT.deleteConfirm}</label><input id="confirm" name="email" type="email" autocomplete="off" required><button type="submit" class="danger">${TEXT.delete}</button></form>`;
}

function left(name: string, limit: number | undefined, used: number): Html {
  if (limit === undefined) return figure(TEXT.unlimited, `${name}: ${count(used)}`);
  const rest = Math.max(0, limit - used);
  const bar = html`<progress value="${rest}" max="${Math.max(1, limit)}" aria-label="${name}"></progress>`;
  return figure(count(rest), `${TEXT.of} ${count(limit)} ${name}`, bar);
}

function keyTable(keys: readonly KeyRecord[]): Html {
  if (keys.length === 0) return html`<p class="empty">${TEXT.noKeys}</p>`;
  const rows = keys.map((key) => {
    const { id, name, created, lastUsed, kind } = key;
    const actions = [
      isValid(key) && !kind && button('/account/keys/rotate', TEXT.rotate, { id }),
      isValid(key) && button('/account/keys/disable', TEXT.disable, { id }),
    ];
    return html`<tr><th scope="row">${name}</th><td><code>${id}</code></td><td>${dayOf(created)}</td><td>${lastUsed ?? TEXT.never}</td><td>${stateOf(key)}</td><td><div class="row">${actions}</div></td></tr>`;
  });
  const heads = [TEXT.name, TEXT.id, TEXT.created, TEXT.lastUsed, TEXT.state, TEXT.actions];
  return html`${table(TEXT.keys, heads, rows)}<p class="muted">${TEXT.rotateHint}</p>`;
}

/** Says whether a key can be used. */
export function stateOf({ disabled, accountDisabled, expires }: KeyRecord): string {
  if (disabled) return TEXT.states.disabled;
  if (accountDisabled) return TEXT.states.accountDisabled;
  if (expires === undefined) return TEXT.states.valid;
  return expires <= Date.now() ? TEXT.states.expired : `${TEXT.states.until} ${dayOf(expires)}`;
}
