import type { Failure, UsageRow } from '../platform/usage.ts';
import { type ReportedRow, sumRows } from '../platform/usage-report.ts';
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
export function failureTable(
  failures: readonly Failure[],
  linkOf?: (account: string) => { readonly path: string; readonly email: string | undefined },
): Html {
  if (failures.length === 0) return html`<p class="muted">${TEXT.noFailures}</p>`;
  const rows = failures.map(({ time, code, tool, requestId, account }) => {
    const owner = linkOf?.(account);
    return html`<tr><td>${timeOf(time)}</td><td><a href="/support#${code}"><code>${code}</code></a></td><td>${tool ?? '–'}</td><td><code>${requestId}</code></td>${owner && html`<td><a href="${owner.path}">${owner.email} <code>${account}</code></a></td>`}</tr>`;
  });
  const heads = [TEXT.time, TEXTS.support.code, TEXT.tool, TEXT.requestId];
  return table(TEXT.failures, linkOf ? [...heads, TEXT.title] : heads, rows);
}

const [WIDTH, HEIGHT, GAP] = [744, 160, 4];

/** Draws the conversions of a month as stacked bars, one per day, and lists them in a table for screen readers. */
function usageChart(rows: readonly UsageRow[], month: string): Html {
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
      return html`<rect class="tool-${tools.indexOf(tool)}" x="${x}" y="${top.toFixed(1)}" width="${(step - GAP).toFixed(1)}" height="${height.toFixed(1)}"><title>${day}: ${tool} ${conversions}</title></rect>`;
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
  return html`<div class="scroll" tabindex="0" role="group" aria-label="${TEXTS.account.chart}"><svg class="chart" viewBox="0 -20 ${WIDTH} ${HEIGHT + 44}" role="img" aria-label="${TEXTS.account.chart}"><line x1="0" y1="${HEIGHT}" x2="${WIDTH}" y2="${HEIGHT}"/>${bars}${labels}<text x="0" y="-8">${highest}</text></svg></div><ul class="legend">${legend}</ul>`;
}
