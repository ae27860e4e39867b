import { withoutAbsent } from '../../shared/without-absent.ts';
import {
  FAILURE_LIFETIME,
  type Failure,
  type Failures,
  KEPT_FAILURES,
  SHOWN_FAILURES,
} from '../usage/failures.ts';
import { type Item, openTable, type TableLocation } from './table.ts';

const PREFIX = 'failures#';

/** Keeps failures in the table of the keys, in one item per account: a list, newest first. */
export function createDynamoFailures(location: TableLocation): Failures {
  const table = openTable(location);
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
      const item = await table.update(PREFIX + account, {
        expression: 'SET entries = list_append(:entry, if_not_exists(entries, :none)), expires = :end',
        values: {
          ':entry': { L: [entry] },
          ':none': { L: [] },
          ':end': { N: String(Math.ceil((time + FAILURE_LIFETIME) / 1000)) },
        },
      });
      const length = item?.entries?.L?.length ?? 0;
      // Trims only at twice the limit, to save writes. Concurrent inserts only shift older entries back.
      if (length < 2 * KEPT_FAILURES) return;
      const old = Array.from(
        { length: length - KEPT_FAILURES },
        (_, index) => `entries[${KEPT_FAILURES + index}]`,
      );
      await table.update(PREFIX + account, { expression: `REMOVE ${old.join(', ')}` });
    },
    async recent(account) {
      if (account !== undefined) {
        const item = await table.get(PREFIX + account);
        return item ? failuresIn(item) : [];
      }
      const items = table.scan('begins_with(id, :prefix)', { values: { ':prefix': { S: PREFIX } } });
      const found: Failure[] = [];
      for await (const item of items) found.push(...failuresIn(item));
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
