import { type JobFacts, jobSection } from '../../jobs/page.ts';
import { isValid, type KeyRecord } from '../../platform/keys.ts';
import type { Used } from '../../platform/limits.ts';
import type { Failure } from '../../platform/usage.ts';
import type { ReportedRow } from '../../platform/usage-report.ts';
import type { RateLimits } from '../../shared/settings/service.ts';
import { FRONT, type Language } from '../front-texts.ts';
import { type Html, html, withCode } from '../html.ts';
import { OPENID_PATHS } from '../openid/openid.ts';
import {
  button,
  count,
  dayText,
  failureTable,
  figure,
  type Notice,
  noticeOf,
  secretOf,
  table,
  usageSection,
  usedText,
} from '../parts.ts';
import type { Texts } from '../texts/en.ts';
import { TEXTS } from '../texts.ts';
import type { Member } from './members.ts';

/** Who may become a member: everyone, only people with an invitation, or nobody. */
export type SignUp = keyof Texts['account']['signUp'];

interface SignInWays {
  readonly signUp: SignUp;
  /** Whether sign-in links are sent by email. */
  readonly hasMail: boolean;
  /** Name of the OpenID Connect provider. */
  readonly provider?: string | undefined;
}

/** Returns the page for visitors who are not signed in. */
export function signInPage(
  { signUp, hasMail, provider }: SignInWays,
  language: Language,
  notice?: Notice,
): Html {
  const text = TEXTS[language].account;
  const link =
    provider !== undefined &&
    html`<p><a class="button" href="${OPENID_PATHS.begin}">${text.signInWith} ${provider}</a></p>`;
  const form = html`<p>${text.signInLead} ${text.signUp[signUp]}</p>
<form method="post" action="/account/link" class="narrow"><label for="email">${text.email}</label><input id="email" name="email" type="email" autocomplete="email" required maxlength="254"><button type="submit">${text.sendLink}</button></form>`;
  const mail = hasMail ? form : !link && html`<p>${withCode(text.noMail)}</p>`;
  return html`<h1>${FRONT[language].signIn}</h1>${noticeOf(notice)}${link}${mail}`;
}

/** Returns the page that a link opens. A button redeems the link, because email scanners open every URL. */
export function confirmPage(token: string, language: Language): Html {
  const { signIn } = FRONT[language];
  return html`<h1>${signIn}</h1><p>${TEXTS[language].account.confirm}</p>
<form method="post" action="/account/sign-in" class="narrow"><input type="hidden" name="token" value="${token}"><button type="submit">${signIn}</button></form>`;
}

interface AccountFacts {
  readonly member: Member;
  readonly keys: readonly KeyRecord[];
  readonly limits: RateLimits;
  readonly used: Used;
  readonly month: string;
  readonly rows: readonly ReportedRow[];
  readonly failures: readonly Failure[];
  readonly jobs: JobFacts;
}

/** Returns the account page of a member. `apiKey` is a key that was just created. */
export function accountPage(facts: AccountFacts, language: Language, apiKey?: string, notice?: Notice): Html {
  const text = TEXTS[language].account;
  const { nav, signedIn } = FRONT[language];
  const { member, keys, limits, used, rows, month, failures, jobs } = facts;
  return html`<hgroup><h1>${nav['/account']}</h1><p>${signedIn(member.email)}</p></hgroup>
<div class="row">${button('/account/sign-out', text.signOut)}${button('/account/sign-out-everywhere', text.signOutEverywhere)}</div>
${noticeOf(notice)}${secretOf(text.newKey, apiKey, 'new-key', language)}
<h2>${text.left}</h2><div class="cards">${left(text.month, limits.perMonth, used.month, language)}${left(text.minute, limits.perMinute, used.short, language)}</div>
<h2>${text.keys}</h2>${keyTable(keys, language)}
<form method="post" action="/account/keys" class="narrow"><label for="name">${text.keyName}</label><input id="name" name="name" required maxlength="60"><button type="submit">${text.create}</button></form>
<h2>${text.usage}</h2>${usageSection(rows, month, language)}
${jobSection(jobs, language)}
<h2>${text.failures}</h2>${failureTable(failures, language)}
<h2>${text.delete}</h2><p>${text.deleteLead}</p>
<form method="post" action="/account/delete" class="narrow"><label for="confirm">${text.deleteConfirm}</label><input id="confirm" name="email" type="email" autocomplete="off" required><button type="submit" class="danger">${text.delete}</button></form>`;
}

function left(name: string, limit: number | undefined, used: number, language: Language): Html {
  const { of, unlimited } = TEXTS[language].account;
  if (limit === undefined) return figure(unlimited, `${count(used, language)} ${name}`);
  const rest = Math.max(0, limit - used);
  const bar = html`<progress value="${rest}" max="${Math.max(1, limit)}" aria-label="${name}"></progress>`;
  return figure(count(rest, language), `${of} ${count(limit, language)} ${name}`, bar);
}

function keyTable(keys: readonly KeyRecord[], language: Language): Html {
  const text = TEXTS[language].account;
  if (keys.length === 0) return html`<p class="empty">${text.noKeys}</p>`;
  const rows = keys.map((key) => {
    const { id, name, created, lastUsed, kind } = key;
    const actions = [
      isValid(key) && !kind && button('/account/keys/rotate', text.rotate, { id }),
      isValid(key) && button('/account/keys/disable', text.disable, { id }),
    ];
    return html`<tr><th scope="row">${name}</th><td><code>${id}</code></td><td>${dayText(created, language)}</td><td>${usedText(lastUsed, language)}</td><td>${stateOf(key, language)}</td><td><div class="row">${actions}</div></td></tr>`;
  });
  const heads = [text.name, 'ID', text.created, text.lastUsed, text.state, text.actions];
  return html`${table(text.keys, heads, rows)}<p class="muted">${text.rotateHint}</p>`;
}

/** Says whether a key can be used. */
export function stateOf(
  { disabled, accountDisabled, expires }: KeyRecord,
  language: Language = 'en',
): string {
  const { states } = TEXTS[language].account;
  if (disabled) return states.disabled;
  if (accountDisabled) return states.accountDisabled;
  if (expires === undefined) return states.valid;
  return expires <= Date.now() ? states.expired : `${states.until} ${dayText(expires, language)}`;
}
