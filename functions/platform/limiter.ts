import { HOUR } from '../shared/time.ts';
import {
  type CallLimits,
  type Exceeded,
  type Limiter,
  type Used,
  type Windows,
  windowEnds,
  windowsAt,
} from './limits.ts';
import type { Change, Item, Table } from './table.ts';

/** Exceeds every real limit, so that one condition works for accounts with and without a limit. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;
/** Maximum number of attempts to count a call before it fails. */
const MAX_ATTEMPTS = 1000;
const PREFIX = 'limits#';
/**
 * Prefix of the attributes that count calls in progress by the time after which they no longer count, in steps. One
 * attribute per call would make each write dearer: DynamoDB bills the size of the whole item.
 */
const LEASE = 'lease_';
/** Milliseconds of a step. */
const LEASE_STEP = 30_000;

/**
 * Counts in one item per account, whose size does not grow with the number of calls in progress. One conditional update
 * admits a call, and one releases it. The first fails when a window has ended or calls in progress were never released.
 * The item is then read, and the next update also ends them.
 */
export function createLimiter(table: Table): Limiter & {
  /** Ends the calls of processes that were killed. Only for a process that is the only one that admits calls. */
  endLeases(): Promise<void>;
} {
  const idOf = (account: string) => PREFIX + account;

  return {
    async admit({ account, limits, expires, now = Date.now(), shortWindow }) {
      let windows = windowsAt(now, shortWindow);
      const lease = limits.concurrent === undefined ? undefined : LEASE + Math.ceil(expires / LEASE_STEP);
      const call = { limits, now, lease };
      let before: Item | undefined = currentItem(windows);

      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const item = await table.update(idOf(account), countCall(call, windows, before));
        if (item) {
          const ticket = { account, windows, ...(lease !== undefined && { lease }) };
          return { admitted: true, used: usedIn(item, windows), ticket };
        }
        before = await table.get(idOf(account));
        windows = newest(windows, before);
        const used = usedIn(before, windows);
        const exceeded = exceededBy(limits, used, runningIn(before, now));
        if (exceeded) return { admitted: false, used, exceeded };
        // Another call may be faster, and change what was read.
      }
      throw new Error(`The limits of account ${account} could not be counted.`);
    },

    async release({ account, windows, lease }, refund) {
      if (lease === undefined && refund === 'none') return;
      const done = await table.update(idOf(account), {
        add: {
          version: 1,
          ...(lease && { running: -1, [lease]: -1 }),
          ...(refund !== 'none' && { month: -1 }),
          ...(refund === 'all' && { short: -1 }),
        },
        when: {
          ...(lease && { [lease]: { above: 0 } }),
          ...(refund !== 'none' && { monthOf: { is: windows.month }, month: { above: 0 } }),
          ...(refund === 'all' && { shortOf: { is: windows.short } }),
        },
        // A second time would end another call. A lease that is not released ends by itself.
        once: true,
      });
      if (done || refund === 'none') return;
      // A window has ended in the meantime, so less is refunded.
      const ticket = { account, windows, ...(lease !== undefined && { lease }) };
      await this.release(ticket, refund === 'all' ? 'month' : 'none');
    },

    async endLeases() {
      for await (const item of table.list(PREFIX)) {
        const ended = leasesIn(item).map(({ name }) => [name, undefined]);
        await table.update(item.id, { set: { ...Object.fromEntries(ended), running: 0 } });
      }
    },

    async used(account, now = Date.now()) {
      return usedIn(await table.get(idOf(account)), windowsAt(now));
    },
  };
}

interface CountedCall {
  readonly limits: CallLimits;
  readonly now: number;
  readonly lease: string | undefined;
}

/** Returns what an item is assumed to be before it is read: one in the current windows, with no lease to end. */
function currentItem({ short, month }: Windows): Item {
  return { id: '', shortOf: short, monthOf: month, since: 0 };
}

/** Returns the change that counts a call in an item that has the windows and ended leases of `before`. */
function countCall({ limits, now, lease }: CountedCall, windows: Windows, before: Item | undefined): Change {
  const ended = leasesIn(before).filter(({ end }) => end <= now);
  const set = Object.fromEntries(ended.map(({ name }) => [name, undefined]));
  const ofMonth = { monthOf: windows.month, expires: windowEnds(now).month + HOUR };
  if (before?.since === undefined) {
    // An item that is new, has expired, or was written by a version that kept an attribute for each call.
    const used = usedIn(before, windows);
    return {
      set: {
        ...set,
        ...ofMonth,
        ...(lease && { [lease]: 1 }),
        shortOf: windows.short,
        short: used.short + 1,
        month: used.month + 1,
        running: runningIn(before, now) + Number(lease !== undefined),
        since: now,
      },
      add: { version: 1 },
      when: before ? { version: { is: before.version! }, since: 'absent' } : { id: 'absent' },
    };
  }
  const lost = countOf(ended, before);
  const [isNewShort, isNewMonth] = [before.shortOf !== windows.short, before.monthOf !== windows.month];
  return {
    set: {
      ...set,
      ...(isNewShort && { shortOf: windows.short, short: 1 }),
      ...(isNewMonth && { ...ofMonth, month: 1 }),
    },
    add: {
      version: 1,
      ...(!isNewShort && { short: 1 }),
      ...(!isNewMonth && { month: 1 }),
      ...(lease ? { [lease]: 1, running: 1 - lost } : lost > 0 && { running: -lost }),
    },
    when: {
      since: 'present',
      shortOf: { is: before.shortOf! },
      monthOf: { is: before.monthOf! },
      ...(!isNewShort && { short: { below: limits.perShortWindow ?? UNLIMITED } }),
      ...(!isNewMonth && { month: { below: limits.perMonth ?? UNLIMITED } }),
      ...(lease && { running: { below: limits.concurrent! + lost } }),
      ...Object.fromEntries(ended.map(({ name }) => [name, { is: before[name]! }])),
    },
  };
}

function exceededBy(limits: CallLimits, used: Used, running: number): Exceeded | undefined {
  if (used.short >= (limits.perShortWindow ?? UNLIMITED)) return 'perShortWindow';
  if (used.month >= (limits.perMonth ?? UNLIMITED)) return 'perMonth';
  return running >= (limits.concurrent ?? UNLIMITED) ? 'concurrent' : undefined;
}

/**
 * Returns the windows that an item counts if they are the next ones, because another call began them while this one
 * waited. An item from further ahead was written by a wrong clock.
 */
function newest(windows: Windows, item: Item | undefined): Windows {
  const isNext = Number(item?.shortOf) === Number(windows.short) + 1;
  return isNext ? { short: String(item!.shortOf), month: String(item!.monthOf) } : windows;
}

/** Calls in progress that stop counting at the same time. */
interface Lease {
  readonly name: string;
  /** Epoch milliseconds. */
  readonly end: number;
  readonly count: number;
}

function leasesIn(item: Item | undefined): Lease[] {
  return Object.entries(item ?? {}).flatMap(([name, value]) => {
    if (!name.startsWith(LEASE)) return [];
    const step = name.slice(LEASE.length);
    // An earlier version kept the end of each call, under a random name.
    return /^\d{1,11}$/.test(step)
      ? { name, end: LEASE_STEP * Number(step), count: Number(value) }
      : { name, end: Number(value), count: 1 };
  });
}

/** Returns the number of calls with these leases. An expired item that DynamoDB had not deleted may still have older ones. */
function countOf(leases: readonly Lease[], item: Item | undefined): number {
  const since = Number(item?.since ?? 0);
  return leases.reduce((sum, { end, count }) => sum + (end > since ? count : 0), 0);
}

/** Returns the number of calls in progress that have not expired. */
function runningIn(item: Item | undefined, now: number): number {
  return countOf(
    leasesIn(item).filter(({ end }) => end > now),
    item,
  );
}

function usedIn(item: Item | undefined, windows: Windows): Used {
  return {
    short: item?.shortOf === windows.short ? Number(item.short) : 0,
    month: item?.monthOf === windows.month ? Number(item.month) : 0,
  };
}
