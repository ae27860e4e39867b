import { type DynamoDBClient, paginateScan, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
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
import { type Item, readItems } from './read-items.ts';

const FAILURE = 'fail_';

/**
 * Records usage in the key table, one item per account, day and tool: `usage#ACCOUNT#2026-11-21#TOOL`. The rows of an
 * account are read by their IDs, so the table needs no index.
 */
export function createDynamoUsage({
  client,
  table,
  tools,
}: {
  client: DynamoDBClient;
  table: string;
  /** Names of the tools that rows can exist for. */
  tools: readonly string[];
}): Usage {
  async function scan(month: string): Promise<Item[]> {
    const items: Item[] = [];
    const filter = {
      FilterExpression: 'begins_with(id, :usage) AND begins_with(#day, :month)',
      ExpressionAttributeNames: { '#day': 'day' },
      ExpressionAttributeValues: { ':usage': { S: 'usage#' }, ':month': { S: `${month}-` } },
    };
    for await (const page of paginateScan({ client }, { TableName: table, ...filter })) {
      items.push(...(page.Items ?? []));
    }
    return items;
  }

  return {
    async record(conversion, now = Date.now()) {
      const day = dayOf(now);
      const { failures, ...totals } = totalsOf(conversion);
      const numbers = {
        ...totals,
        ...Object.fromEntries(Object.entries(failures).map(([code, count]) => [FAILURE + code, count])),
      };
      const names = ['account', 'day', 'tool', 'expires', ...Object.keys(numbers)];
      const added = Object.keys(numbers).map((name) => `#${name} :${name}`);
      await client.send(
        new UpdateItemCommand({
          TableName: table,
          Key: { id: { S: `usage#${conversion.account}#${day}#${conversion.tool}` } },
          UpdateExpression: `SET #account = :account, #day = :day, #tool = :tool, #expires = :expires ADD ${added.join(', ')}`,
          ExpressionAttributeNames: Object.fromEntries(names.map((name) => [`#${name}`, name])),
          ExpressionAttributeValues: {
            ':account': { S: conversion.account },
            ':day': { S: day },
            ':tool': { S: conversion.tool },
            ':expires': { N: String(Math.floor((now + USAGE_LIFETIME) / 1000)) },
            ...Object.fromEntries(
              Object.entries(numbers).map(([name, value]) => [`:${name}`, { N: String(value) }]),
            ),
          },
        }),
      );
    },

    async month(month, account) {
      if (account === undefined) return (await scan(month)).map(rowOf).sort(compareRows);
      const ids = daysOf(month).flatMap((day) => tools.map((tool) => `usage#${account}#${day}#${tool}`));
      return (await readItems(client, table, ids)).map(rowOf).sort(compareRows);
    },

    async total(month) {
      return sumByTool((await scan(month)).map(rowOf));
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
