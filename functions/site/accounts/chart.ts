import type { UsageRow } from '../../platform/usage/usage.ts';
import { type Html, html } from '../html.ts';
import { TEXTS } from '../texts.ts';

const [WIDTH, HEIGHT, GAP] = [744, 160, 4];

/** Draws the conversions of a month as stacked bars, one per day, and lists them in a table for screen readers. */
export function usageChart(rows: readonly UsageRow[], month: string): Html {
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
