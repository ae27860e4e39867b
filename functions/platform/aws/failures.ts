import {
  type AttributeValue,
  type DynamoDBClient,
  GetItemCommand,
  paginateScan,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { withoutAbsent } from '../keys/keys.ts';
import {
  FAILURE_LIFETIME,
  type Failure,
  type Failures,
  KEPT_FAILURES,
  SHOWN_FAILURES,
} from '../usage/failures.ts';

type Item = Record<string, AttributeValue>;

const PREFIX = 'failures#';

/** Keeps failures in the table of the keys, in one item per account: a list, newest first. */
export function createDynamoFailures({ client, table }: { client: DynamoDBClient; table: string }): Failures {
  const at = (account: string) => ({ TableName: table, Key: { id: { S: PREFIX + account } } });
  return {
    async record({ account, time, code, requestId, tool }) {
      const entry = {
        M: withoutAbsent({
          time: { N: String(time) },
          code: { S: code },
          requestId: { S: requestId },
          tool: tool === undefined ? undefined : { S: tool },
        }),
      };
      const { Attributes } = await client.send(
        new UpdateItemCommand({
          ...at(account),
          UpdateExpression:
            'SET entries = list_append(:entry, if_not_exists(entries, :none)), expires = :end',
          ExpressionAttributeValues: {
            ':entry': { L: [entry] },
            ':none': { L: [] },
            ':end': { N: String(Math.ceil((time + FAILURE_LIFETIME) / 1000)) },
          },
          ReturnValues: 'ALL_NEW',
        }),
      );
      const length = Attributes?.entries?.L?.length ?? 0;
      // Trims only at twice the limit, to save writes. Concurrent inserts only shift older entries back.
      if (length < 2 * KEPT_FAILURES) return;
      const old = Array.from(
        { length: length - KEPT_FAILURES },
        (_, index) => `entries[${KEPT_FAILURES + index}]`,
      );
      await client.send(
        new UpdateItemCommand({ ...at(account), UpdateExpression: `REMOVE ${old.join(', ')}` }),
      );
    },
    async recent(account) {
      if (account !== undefined) {
        const { Item: item } = await client.send(
          new GetItemCommand({ ...at(account), ConsistentRead: true }),
        );
        return item ? failuresIn(item) : [];
      }
      const filter = {
        FilterExpression: 'begins_with(id, :prefix)',
        ExpressionAttributeValues: { ':prefix': { S: PREFIX } },
      };
      const found: Failure[] = [];
      for await (const page of paginateScan({ client }, { TableName: table, ...filter }))
        found.push(...(page.Items ?? []).flatMap(failuresIn));
      return found.sort((a, b) => b.time - a.time).slice(0, SHOWN_FAILURES);
    },
  };
}

function failuresIn(item: Item): Failure[] {
  const first = Date.now() - FAILURE_LIFETIME;
  return (item.entries?.L ?? [])
    .slice(0, KEPT_FAILURES)
    .map(
      ({ M: entry }) =>
        withoutAbsent({
          account: item.id!.S!.slice(PREFIX.length),
          time: Number(entry!.time!.N),
          code: entry!.code!.S!,
          requestId: entry!.requestId!.S!,
          tool: entry!.tool?.S,
        }) as Failure,
    )
    .filter(({ time }) => time > first);
}
