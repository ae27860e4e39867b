import { randomUUID } from 'node:crypto';
import { DAY } from '../../shared/dates.ts';
import type { ErrorCode } from '../../shared/errors.ts';
import type { Item, Table } from '../table.ts';

/** A failed call. Contains nothing about the document. */
export interface Failure {
  readonly account: string;
  /** Epoch milliseconds. */
  readonly time: number;
  readonly code: ErrorCode;
  /** Identifies the log lines of the call. */
  readonly requestId: string;
  /** Name of the tool. Absent if the call named none. */
  readonly tool?: string;
}

/** Maximum number of failures to keep per account. */
const KEPT_FAILURES = 20;
/** Maximum number of failures of all accounts to show to an operator. */
const SHOWN_FAILURES = 50;
/** How long failures are kept, in milliseconds. */
const FAILURE_LIFETIME = 31 * DAY;

/** The most recent failures of each account. */
export interface Failures {
  record(failure: Failure): Promise<void>;
  /** Returns the latest failures of one account, or of all accounts, newest first. */
  recent(account?: string): Promise<Failure[]>;
}

const PREFIX = 'failures#';

/** Keeps the failures of each account in one item, as attributes whose names begin with the time. */
export function createFailures(table: Table): Failures {
  return {
    async record({ account, time, ...facts }) {
      const item = await table.update(PREFIX + account, {
        set: { [`${time} ${randomUUID()}`]: JSON.stringify(facts), expires: time + FAILURE_LIFETIME },
      });
      const names = namesIn(item!);
      // Trims only at twice the limit, to save writes.
      if (names.length < 2 * KEPT_FAILURES) return;
      const old = names.slice(KEPT_FAILURES).map((name) => [name, undefined]);
      await table.update(PREFIX + account, { set: Object.fromEntries(old) });
    },
    async recent(account) {
      const items =
        account === undefined
          ? await Array.fromAsync(table.list(PREFIX))
          : await table.getAll([PREFIX + account]);
      return items
        .flatMap(failuresIn)
        .sort((a, b) => b.time - a.time)
        .slice(0, SHOWN_FAILURES);
    },
  };
}

/** Returns the names of the attributes that are failures, newest first. All times have the same number of digits. */
function namesIn(item: Item): string[] {
  return Object.keys(item)
    .filter((name) => /^\d/.test(name))
    .sort()
    .reverse();
}

function failuresIn(item: Item): Failure[] {
  const account = item.id.slice(PREFIX.length);
  const first = Date.now() - FAILURE_LIFETIME;
  return namesIn(item)
    .slice(0, KEPT_FAILURES)
    .map((name) => ({
      account,
      time: parseInt(name, 10),
      ...(JSON.parse(String(item[name])) as Omit<Failure, 'account' | 'time'>),
    }))
    .filter(({ time }) => time > first);
}
