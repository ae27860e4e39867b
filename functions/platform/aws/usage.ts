import { dayOf, daysOf } from '../../shared/dates.ts';
import {
  compareRows,
  countsFrom,
  sumByTool,
  totalsOf,
  USAGE_LIFETIME,
  type Usage,
  type UsageRow,
} from '../usage/usage.ts';
import { assign, type Item, openTable, type TableLocation } from './table.ts';

const FAILURE = 'fail_';

/**
 * Records usage in the key table, one item per account, day and tool: `usage#ACCOUNT#2026-11-21#TOOL`. The rows of an
 * account are read by their IDs, so the table needs no index.
 */
export function createDynamoUsage({
  tools,
  ...location
}: TableLocation & {
  /** Names of the tools that rows can exist for. */
  readonly tools: readonly string[];
}): Usage {
  const table = openTable(location);

  /** Returns the rows of all accounts. */
  async function scan(month: string): Promise<UsageRow[]> {
    const items = table.scan('begins_with(id, :usage) AND begins_with(#day, :month)', {
      names: { '#day': 'day' },
      values: { ':usage': { S: 'usage#' }, ':month': { S: `${month}-` } },
    });
    const rows: UsageRow[] = [];
    for await (const item of items) rows.push(rowOf(item));
    return rows;
  }

  return {
    async record(conversion, now = Date.now()) {
      const day = dayOf(now);
      const { failures, ...totals } = totalsOf(conversion);
      const counts = {
        ...totals,
        ...Object.fromEntries(Object.entries(failures).map(([code, count]) => [FAILURE + code, count])),
      };
      const { account, tool } = conversion;
      const expires = { N: String(Math.floor((now + USAGE_LIFETIME) / 1000)) };
      const facts = assign({ account: { S: account }, day: { S: day }, tool: { S: tool }, expires });
      const added = Object.entries(counts);
      await table.update(`usage#${account}#${day}#${tool}`, {
        expression: `${facts.expression} ADD ${added.map(([name]) => `#${name} :${name}`).join(', ')}`,
        names: { ...facts.names, ...Object.fromEntries(added.map(([name]) => [`#${name}`, name])) },
        values: {
          ...facts.values,
          ...Object.fromEntries(added.map(([name, count]) => [`:${name}`, { N: String(count) }])),
        },
      });
    },

    async month(month, account) {
      if (account === undefined) return (await scan(month)).sort(compareRows);
      const ids = daysOf(month).flatMap((day) => tools.map((tool) => `usage#${account}#${day}#${tool}`));
      return (await table.getAll(ids)).map(rowOf).sort(compareRows);
    },

    async total(month) {
      return sumByTool(await scan(month));
    },
  };
}

function rowOf(item: Item): UsageRow {
  const number = (name: string) => Number(item[name]?.N ?? 0);
  const failures = Object.keys(item).filter((name) => name.startsWith(FAILURE));
  return {
    account: item.account!.S!,
    day: item.day!.S!,
    tool: item.tool!.S!,
    ...countsFrom(number),
    failures: Object.fromEntries(failures.sort().map((name) => [name.slice(FAILURE.length), number(name)])),
  };
}
