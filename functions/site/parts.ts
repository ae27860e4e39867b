import type { Failure, UsageRow } from '../platform/usage.ts';
import { type ReportedRow, sumRows } from '../platform/usage-report.ts';
import { FRONT, type Language } from './front-texts.ts';
import { type Html, html, withCode } from './html.ts';
import { OPERATOR, TEXTS } from './texts.ts';

/** A message at the top of a page. */
export interface Notice {
  readonly text: string;
  readonly isError?: boolean;
}

export const noticeOf = (notice: Notice | undefined) =>
  notice &&
  html`<p class="${notice.isError ? 'notice bad' : 'notice'}" role="status">${withCode(notice.text)}</p>`;

/** Shows a text for copying that is displayed only once. */
export function secretOf(
  label: string,
  secret: string | undefined,
  id: string,
  language: Language = 'en',
): Html | false {
  if (secret === undefined) return false;
  return html`<div class="notice" role="status"><p>${label}</p><pre tabindex="0"><code id="${id}">${secret}</code></pre><button type="button" class="secondary copy" data-copy="${id}" hidden>${TEXTS[language].try.copy}</button></div>`;
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
export const count = (number: number, language: Language = 'en') => number.toLocaleString(language);

/** Formats the day of a point in time. */
export const dayText = (time: number | string, language: Language = 'en') =>
  new Date(time).toLocaleDateString(language, { dateStyle: 'medium', timeZone: 'UTC' });

/** Formats the day on which something was last used, if ever. */
export const usedText = (day: string | undefined, language: Language = 'en') =>
  day === undefined ? TEXTS[language].account.never : dayText(day, language);

/** Formats a point in time, to the second and in UTC. */
export const timeOf = (time: number, language: Language = 'en') => {
  const styles = { dateStyle: 'medium', timeStyle: 'medium', hourCycle: 'h23', timeZone: 'UTC' } as const;
  const date = new Date(time);
  return html`<time datetime="${date.toISOString()}">${date.toLocaleString(language, styles)}</time>`;
};

/** Shows the conversions of a month. */
export function usageSection(rows: readonly ReportedRow[], month: string, language: Language = 'en'): Html {
  const text = TEXTS[language].account;
  if (rows.length === 0) return html`<p class="empty">${text.noUsage}</p>`;
  const { conversions, failures, estimatedDollars } = sumRows(rows);
  const failed = Object.values(failures).reduce((sum, each) => sum + each, 0);
  const codes = codeList(failures, language);
  const dollars = estimatedDollars?.toLocaleString(language, { style: 'currency', currency: 'USD' });
  return html`<p>${text.conversions} ${count(conversions, language)}. ${text.failed} ${count(failed, language)}${failed > 0 && html` (${codes})`}.${dollars !== undefined && html` ${text.dollars} ${dollars}.`}</p>${usageChart(rows, month, language)}`;
}

/** Returns the number of failures by code. */
export function codeList(failures: Readonly<Record<string, number>>, language: Language = 'en'): Html[] {
  return Object.entries(failures).map(
    ([code, times], index) =>
      html`${index > 0 && ', '}<a href="/support#${code}"><code>${code}</code></a> ${count(times, language)}`,
  );
}

/** Shows failures with the data that identifies them in the log. `linkOf` returns the page of an account. */
export function failureTable(
  failures: readonly Failure[],
  language: Language = 'en',
  linkOf?: (account: string) => { readonly path: string; readonly email: string | undefined },
): Html {
  const text = TEXTS[language].account;
  if (failures.length === 0) return html`<p class="muted">${text.noFailures}</p>`;
  const rows = failures.map(({ time, code, tool, requestId, account }) => {
    const owner = linkOf?.(account);
    return html`<tr><td>${timeOf(time, language)}</td><td><a href="/support#${code}"><code>${code}</code></a></td><td>${tool ?? '–'}</td><td><code>${requestId}</code></td>${owner && html`<td><a href="${owner.path}">${owner.email} <code>${account}</code></a></td>`}</tr>`;
  });
  const heads = [text.time, 'Code', text.tool, FRONT[language].requestId];
  return table(text.failures, linkOf ? [...heads, OPERATOR.account] : heads, rows);
}

const [WIDTH, HEIGHT, GAP] = [744, 160, 4];

/** Draws the conversions of a month as stacked bars, one per day, and lists them in a table for screen readers. */
function usageChart(rows: readonly UsageRow[], month: string, language: Language): Html {
  const days = new Date(Date.UTC(Number(month.slice(0, 4)), Number(month.slice(5)), 0)).getUTCDate();
  const tools = [...new Set(rows.map(({ tool }) => tool))].sort();
  const byDay = Map.groupBy(rows, ({ day }) => Number(day.slice(8)));
  const totals = [...byDay.values()].map((some) => some.reduce((sum, row) => sum + row.conversions, 0));
  const highest = Math.max(1, ...totals);
  const step = WIDTH / days;
  const bars = [...byDay].flatMap(([day, some]) => {
    let top = HEIGHT;
    return some.map(({ tool, conversions }) => {
      const height = (HEIGHT * conversions) / highest;
      top -= height;
      const x = ((day - 1) * step + GAP / 2).toFixed(1);
      return html`<rect class="tool-${tools.indexOf(tool)}" x="${x}" y="${top.toFixed(1)}" width="${(step - GAP).toFixed(1)}" height="${height.toFixed(1)}"><title>${day}: ${tool} ${count(conversions, language)}</title></rect>`;
    });
  });
  const labels = [1, 10, 20, days].map(
    (day) =>
      html`<text x="${((day - 0.5) * step).toFixed(1)}" y="${HEIGHT + 18}" text-anchor="middle">${day}</text>`,
  );
  const legend = tools.map(
    (tool, index) =>
      html`<li><svg width="12" height="12" aria-hidden="true"><rect class="tool-${index}" width="12" height="12" rx="2"/></svg> ${tool}</li>`,
  );
  const { chart } = TEXTS[language].account;
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${chart}"><svg class="chart" viewBox="0 -20 ${WIDTH} ${HEIGHT + 44}" role="img" aria-label="${chart}"><line x1="0" y1="${HEIGHT}" x2="${WIDTH}" y2="${HEIGHT}"/>${bars}${labels}<text x="0" y="-8">${count(highest, language)}</text></svg></div><ul class="legend">${legend}</ul>`;
}
