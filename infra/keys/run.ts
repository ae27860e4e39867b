import { type KeyLimits, type KeyRecord, type Keys, rotateKey } from '../../functions/platform/keys/keys.ts';
import { type PricedRow, priceRows, sumRows, usageCsv } from '../../functions/platform/usage/report.ts';
import type { Usage } from '../../functions/platform/usage/usage.ts';
import type { Tool } from '../../functions/shared/tool.ts';
import type { Command, LimitChanges } from './command.ts';
import { columns, describeKey, keyTable } from './print.ts';

export interface Stores {
  readonly keys: Keys;
  readonly usage: Usage;
}

/** Runs a command and returns what it prints. @throws Error if there is no such key. */
export async function runCommand(command: Command, stores: Stores, tools: readonly Tool[]): Promise<string> {
  const { keys } = stores;
  const print = (value: unknown, text: string) =>
    command.json ? `${JSON.stringify(value, null, 2)}\n` : text;
  const printKey = (record: KeyRecord | undefined) => {
    if (!record) throw new Error(`There is no key ${'id' in command ? command.id : ''}.`);
    return print(record, describeKey(record));
  };
  const printNew = ({ apiKey, record }: { apiKey: string; record: KeyRecord }) =>
    print({ ...record, apiKey }, `${describeKey(record)}\nAPI key, shown only this once: ${apiKey}\n`);

  switch (command.name) {
    case 'help':
      return '';
    case 'create': {
      const { account } = command.key;
      if (account !== undefined && !(await keys.list()).some((key) => key.account === account))
        throw new Error(`There is no account ${account}. Leave out --account to create one.`);
      return printNew(await keys.create(command.key));
    }
    case 'list': {
      const all = await keys.list();
      return print(all, keyTable(all));
    }
    case 'show':
      return printKey(await keys.get(command.id));
    case 'rotate': {
      const { expires = Number.POSITIVE_INFINITY, account } = (await keys.get(command.id)) ?? {};
      // The new key expires when the old one does.
      if (expires <= Date.now()) {
        throw new Error(
          `The key ${command.id} expired on ${new Date(expires).toISOString()}. Create a new one with --account ${account}.`,
        );
      }
      const created = await rotateKey(keys, command.id, command.overlap);
      if (!created) throw new Error(`There is no key ${command.id}.`);
      return printNew(created);
    }
    case 'disable':
    case 'enable':
      return printKey(await keys.update(command.id, { disabled: command.name === 'disable' }));
    case 'revoke':
      if (!(await keys.revoke(command.id))) throw new Error(`There is no key ${command.id}.`);
      return print({ id: command.id, revoked: true }, `${command.id} is revoked.\n`);
    case 'limits': {
      const record = await keys.get(command.id);
      return printKey(
        record && (await keys.update(command.id, { limits: changeLimits(record.limits, command.limits) })),
      );
    }
    case 'usage':
      return printUsage(command, stores, tools);
    default:
      return command satisfies never;
  }
}

function changeLimits(limits: KeyLimits, changes: LimitChanges): KeyLimits {
  return Object.fromEntries(Object.entries({ ...limits, ...changes }).filter(([, value]) => value !== null));
}

async function printUsage(
  { id, month, csv, json }: Extract<Command, { name: 'usage' }>,
  { keys, usage }: Stores,
  tools: readonly Tool[],
): Promise<string> {
  const record = id === undefined ? undefined : await keys.get(id);
  if (id !== undefined && !record) throw new Error(`There is no key ${id}.`);
  const rows = priceRows(await usage.month(month, record?.account), tools);
  if (csv) return usageCsv(rows);
  const total = sumRows(rows);
  if (json) return `${JSON.stringify({ month, total, days: rows }, null, 2)}\n`;
  return usageTable(rows, { ...total, account: 'total', day: month, tool: '' });
}

function usageTable(rows: readonly PricedRow[], total: PricedRow): string {
  const head = [
    'account',
    'day',
    'tool',
    'conversions',
    'failed',
    'cached',
    'source MB',
    'result MB',
    'pages',
    'tool s',
    '$',
  ];
  const cells = (row: PricedRow) => [
    ...[row.account, row.day, row.tool, String(row.conversions)],
    String(Object.values(row.failures).reduce((sum, count) => sum + count, 0)),
    String(row.cached),
    ...[row.sourceBytes / 1e6, row.resultBytes / 1e6].map((megabytes) => megabytes.toFixed(1)),
    String(row.pages),
    (row.milliseconds / 1000).toFixed(1),
    row.estimatedDollars.toFixed(4),
  ];
  return columns([head, ...[...rows, total].map(cells)], (column) => column > 2);
}
