import type { Health, MachineStatus, ToolStatus } from '../../platform/invoke.ts';
import { type Html, html } from '../html.ts';
import { count, figure } from '../parts.ts';
import { OPERATOR as TEXT } from '../texts.ts';

/** Current conversions and workers of a tool. */
export interface ToolWork {
  readonly running: number;
  readonly waiting: number;
  readonly workers: number;
}

/** The state of the service. */
export interface Operation {
  readonly health: () => Promise<Health>;
  /** State of the machine. Absent if tools share no machine. */
  readonly machine?: () => Readonly<Record<string, MachineStatus>>;
  /** Body of `GET /api/version`. */
  readonly version: object;
  /** Work by tool. Absent if it is unknown to this process. */
  readonly work?: () => Promise<Readonly<Record<string, ToolWork>>>;
  /** Bytes in use by purpose. Absent if unknown to this process. */
  readonly storage?: () => Promise<Readonly<Record<string, number>>>;
}

/** Shows the state of the engines, their work and versions, and the storage in use. */
export async function operationSection({
  health,
  machine,
  version,
  work,
  storage,
}: Operation): Promise<Html> {
  const [tools, works, bytes] = await Promise.all([health(), work?.(), storage?.()]);
  const cards = Object.entries(tools).map(([name, status]) => {
    const now = works?.[name];
    return html`<article><h3>${name} ${badge(status)}</h3>${now && html`<p>${count(now.running)} ${TEXT.running}, ${count(now.waiting)} ${TEXT.waiting}, ${count(now.workers)} ${TEXT.workers}</p>`}</article>`;
  });
  const shared = Object.entries(machine?.() ?? {}).map(
    ([name, status]) => html`<article><h3>${TEXT.machine[name] ?? name} ${badge(status)}</h3></article>`,
  );
  const used = Object.entries(bytes ?? {}).map(([name, size]) =>
    figure(sizeOf(size), TEXT.storages[name] ?? name),
  );
  return html`<h2>${TEXT.engines}</h2><div class="cards small">${cards}${shared}</div>
<h3>${TEXT.versions}</h3><p class="contents muted">${versionsOf(version).map(([name, value]) => html`<span>${name} <code>${value}</code></span>`)}</p>
${used.length > 0 && html`<h2>${TEXT.storage}</h2><div class="cards small">${used}</div>`}`;
}

function badge(status: ToolStatus | MachineStatus): Html {
  return html`<span class="badge ${status}">${TEXT.states[status]}</span>`;
}

function versionsOf(version: object): Array<[string, string]> {
  return Object.entries(version).flatMap(([name, value]) =>
    typeof value === 'object' ? versionsOf(value as object) : [[name, String(value)] as [string, string]],
  );
}

function sizeOf(bytes: number): string {
  const power = Math.min(3, Math.floor(Math.log10(Math.max(1, bytes)) / 3));
  return `${(bytes / 1000 ** power).toFixed(power === 0 ? 0 : 1)} ${['B', 'kB', 'MB', 'GB'][power]}`;
}
