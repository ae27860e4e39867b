import type { NamedPrefix } from '../../functions/buckets/places.ts';
import type { Job } from '../../functions/jobs/job.ts';
import type { Account } from '../../functions/platform/accounts.ts';
import { isValid, type KeyRecord, type Restrictions } from '../../functions/platform/keys.ts';
import type { AuditEntry } from '../../functions/platform/stores.ts';
import type { NamedRow, ReportedRow } from '../../functions/platform/usage-report.ts';
import { dayOf } from '../../functions/shared/time.ts';
import type { Erasure } from '../../functions/site/accounts/erase.ts';

/** Formats a key as lines of names and values. */
export function describeKey(record: KeyRecord, email?: string): string {
  const rows = [
    ['id', record.id],
    ['name', record.name],
    ['account', record.account],
    ...(email ? [['email', email]] : []),
    ['kind', record.kind ?? 'api key'],
    ['state', stateOf(record)],
    ['created', new Date(record.created).toISOString()],
    ['last used', record.lastUsed ?? 'never'],
    ...restrictionRows(record),
  ];
  return columns(rows);
}

/** Formats the restrictions of an account as lines of names and values, with facts about it if given. */
export function describeAccount(id: string, restrictions: Restrictions, account?: Account): string {
  const facts = account && [
    ['email', account.email ?? '–'],
    ['role', account.role ?? '–'],
    ['state', account.disabled ? 'disabled' : 'valid'],
    ['created', new Date(account.created).toISOString()],
    ['last used', account.lastUsed ?? 'never'],
  ];
  return columns([['account', id], ...(facts ?? []), ...restrictionRows(restrictions)]);
}

function restrictionRows(restrictions: Restrictions): string[][] {
  const { tools, expires } = restrictions;
  return [
    ['expires', expires === undefined ? 'never' : new Date(expires).toISOString()],
    ['tools', tools?.join(', ') ?? 'all'],
    ['limits', limitsOf(restrictions)],
  ];
}

/** Formats the prefixes in buckets that an account may use as lines of an access and a URL. */
export function bucketRows(prefixes: readonly NamedPrefix[]): string {
  return columns(prefixes.map(({ url, access }) => ['bucket', access, url]));
}

/** Formats keys as a table. */
export function keyTable(records: ReadonlyArray<KeyRecord & { readonly email?: string }>): string {
  const rows = records.map((record) => [
    record.id,
    record.name,
    record.kind ?? 'api key',
    stateOf(record),
    dayOf(record.created),
    record.lastUsed ?? 'never',
    record.expires === undefined ? 'never' : new Date(record.expires).toISOString().slice(0, 16),
    record.tools?.join(',') ?? 'all',
    limitsOf(record),
    record.account,
    record.email ?? '',
  ]);
  return columns([
    ['id', 'name', 'kind', 'state', 'created', 'last used', 'expires', 'tools', 'limits', 'account', 'email'],
    ...rows,
  ]);
}

/** Formats jobs as a table. */
export function jobTable(jobs: readonly Job[]): string {
  const rows = jobs.map(({ id, call, status, created, end, delivery }) => [
    id,
    call.request.tool,
    status,
    new Date(created).toISOString(),
    end?.status === 'failed' ? end.error.code : '',
    delivery ? `${delivery.state} (${delivery.attempts})` : '',
    delivery?.last ?? '',
  ]);
  return columns([['id', 'tool', 'status', 'accepted', 'error', 'webhook', 'last response'], ...rows]);
}

/** Formats operators' actions as a table. */
export function auditTable(entries: ReadonlyArray<AuditEntry & { readonly email?: string }>): string {
  const rows = entries.map(({ time, actor, action, subject, email = '', details, from }) => [
    new Date(time).toISOString(),
    actor,
    action,
    subject,
    email,
    details,
    from,
  ]);
  return columns([['time', 'who', 'action', 'on', 'email', 'details', 'from'], ...rows]);
}

function stateOf(record: KeyRecord): string {
  if (record.disabled) return 'disabled';
  if (record.accountDisabled) return 'account disabled';
  return isValid(record) ? 'valid' : 'expired';
}

function limitsOf({ limits: { perMinute, perMonth, concurrent } }: Restrictions): string {
  const parts = [
    perMinute === undefined ? '' : `${perMinute}/minute`,
    perMonth === undefined ? '' : `${perMonth}/month`,
    concurrent === undefined ? '' : `${concurrent} concurrent`,
  ].filter((part) => part !== '');
  return parts.join(' ') || 'default';
}

/** Aligns cells in columns. */
export function columns(
  rows: ReadonlyArray<readonly string[]>,
  right: (column: number) => boolean = () => false,
): string {
  const widths = (rows[0] ?? []).map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row
      .map((cell, column) => (right(column) ? cell.padStart(widths[column]!) : cell.padEnd(widths[column]!)))
      .join('  ')
      .trimEnd(),
  );
  return lines.map((line) => `${line}\n`).join('');
}

/** Formats usage as a table with a line for the total. */
export function usageTable(rows: readonly NamedRow[], total: ReportedRow): string {
  const head = [
    'account',
    'email',
    'day',
    'tool',
    'conversions',
    'failed',
    'cached',
    'source MB',
    'result MB',
    'pages',
    'tool s',
    ...(total.estimatedDollars === undefined ? [] : ['cold starts', '$']),
  ];
  const cells = (row: NamedRow) => [
    row.account,
    row.email ?? '',
    row.day,
    row.tool,
    String(row.conversions),
    String(Object.values(row.failures).reduce((sum, count) => sum + count, 0)),
    String(row.cached),
    ...[row.sourceBytes / 1e6, row.resultBytes / 1e6].map((megabytes) => megabytes.toFixed(1)),
    String(row.pages),
    (row.milliseconds / 1000).toFixed(1),
    ...(row.estimatedDollars === undefined ? [] : [String(row.coldStarts), row.estimatedDollars.toFixed(4)]),
  ];
  return columns([head, ...[...rows, total].map(cells)], (column) => column > 3);
}

/** Describes what was erased and what remains. */
export function describeErasure({ account, erased, kept }: Erasure): string {
  const counts = Object.entries(erased).map(([name, count]) => `  ${name.padEnd(10)}${count}\n`);
  const reasons = kept.map((reason) => `  ${reason}\n`);
  return `${account} is erased:\n${counts.join('')}These remain:\n${reasons.join('')}`;
}
