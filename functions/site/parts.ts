import type { Failure } from '../platform/usage/failures.ts';
import { type ReportedRow, sumRows } from '../platform/usage/report.ts';
import { usageChart } from './accounts/chart.ts';
import { type Html, html, withCode } from './html.ts';
import { TEXTS } from './texts.ts';

const { account: TEXT } = TEXTS;

/** A message at the top of a page. */
export interface Notice {
  readonly text: string;
  readonly isError?: boolean;
}

export const noticeOf = (notice: Notice | undefined) =>
  notice &&
  html`<p class="${notice.isError ? 'notice bad' : 'notice'}" role="status">${withCode(notice.text)}</p>`;

/** Shows a text for copying that is displayed only once. */
export function secretOf(label: string, secret: string | undefined, id: string): Html | false {
  if (secret === undefined) return false;
  return html`<div class="notice" role="status"><p>${label}</p><pre tabindex="0"><code id="${id}">${secret}</code></pre><button type="button" class="secondary copy" data-copy="${id}" hidden>${TEXTS.try.copy}</button></div>`;
}

/** Returns a form with a single button. */
export function button(action: string, label: string, values: Readonly<Record<string, string>> = {}): Html {
  return html`<form method="post" action="${action}">${hidden(values)}<button type="submit" class="secondary">${label}</button></form>`;
}

export function hidden(values: Readonly<Record<string, string>>): Html[] {
  return Object.entries(values).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  );
}

/** Returns a table that scrolls sideways on narrow screens. `rows` are `tr` elements. */
export function table(label: string, heads: readonly string[], rows: readonly Html[]): Html {
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${label}"><table class="facts"><thead><tr>${heads.map((head) => html`<th scope="col">${head}</th>`)}</tr></thead><tbody>${rows}</tbody></table></div>`;
}

/** Returns a number with its name. */
export function figure(value: string, name: string, more?: Html): Html {
  return html`<article><p class="figure">${value}</p><p>${name}</p>${more}</article>`;
}

/** Formats an integer. */
export const count = (number: number) => number.toLocaleString('en-US');

/** Formats a point in time, to the second and in UTC. */
export const timeOf = (time: number) => {
  const [day, clock = ''] = new Date(time).toISOString().split('T');
  return html`<time datetime="${new Date(time).toISOString()}">${day} ${clock.slice(0, 8)}</time>`;
};

/** Shows the conversions of a month. */
export function usageSection(rows: readonly ReportedRow[], month: string): Html {
  if (rows.length === 0) return html`<p class="empty">${TEXT.noUsage}</p>`;
  const { conversions, failures, estimatedDollars } = sumRows(rows);
  const failed = Object.values(failures).reduce((sum, each) => sum + each, 0);
  const codes = codeList(failures);
  return html`<p>${TEXT.conversions}: ${count(conversions)}. ${TEXT.failed}: ${count(failed)}${failed > 0 && html` (${codes})`}.${estimatedDollars !== undefined && html` ${TEXT.dollars}: $${estimatedDollars.toFixed(2)}.`}</p>${usageChart(rows, month)}`;
}

/** Returns the number of failures by code. */
export function codeList(failures: Readonly<Record<string, number>>): Html[] {
  return Object.entries(failures).map(
    ([code, times], index) =>
      html`${index > 0 && ', '}<a href="/support#${code}"><code>${code}</code></a> ${count(times)}`,
  );
}

/** Shows failures with the data that identifies them in the log. `linkOf` returns the page of an account. */
export function failureTable(failures: readonly Failure[], linkOf?: (account: string) => string): Html {
  if (failures.length === 0) return html`<p class="muted">${TEXT.noFailures}</p>`;
  const rows = failures.map(
    ({ time, code, tool, requestId, account }) =>
      html`<tr><td>${timeOf(time)}</td><td><a href="/support#${code}"><code>${code}</code></a></td><td>${tool ?? '–'}</td><td><code>${requestId}</code></td>${linkOf && html`<td><a href="${linkOf(account)}"><code>${account}</code></a></td>`}</tr>`,
  );
  const heads = [TEXT.time, TEXTS.support.code, TEXT.tool, TEXT.requestId];
  return table(TEXT.failures, linkOf ? [...heads, TEXT.title] : heads, rows);
}
