import { randomBytes } from 'node:crypto';
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
import type { Attributes, Item, Table } from './table.ts';

/** Exceeds every real limit, so that one condition works for accounts with and without a limit. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;
/** Maximum number of attempts to start a window before a call gives up. */
const MAX_ATTEMPTS = 1000;
const PREFIX = 'limits#';
/** Prefix of the attributes that are calls in progress. Their values are the times after which they do not count. */
const LEASE = 'lease_';

/**
 * Counts in one item per account. One conditional update admits a call. It fails when a window has ended or a call in
 * progress was never released. The item is then read and renewed, unless another call has changed it.
 */
export function createLimiter(table: Table): Limiter & {
  /** Ends the calls of processes that were killed. Only for a process that is the only one that admits calls. */
  endLeases(): Promise<void>;
} {
  const idOf = (account: string) => PREFIX + account;

  return {
    async admit({ account, limits, expires, now = Date.now(), shortWindow }) {
      let windows = windowsAt(now, shortWindow);
      const lease =
        limits.concurrent === undefined ? undefined : LEASE + randomBytes(9).toString('base64url');
      const leased = lease === undefined ? {} : { [lease]: expires };
      const admitted = (item: Item) => {
        const ticket = { account, windows, ...(lease !== undefined && { lease }) };
        return { admitted: true, used: usedIn(item, windows), ticket } as const;
      };

      for (let attempt = 0; attempt < MAX_ATTEMPTS; attempt++) {
        const counted = await table.update(idOf(account), {
          set: leased,
          add: { version: 1, short: 1, month: 1, ...(lease && { running: 1 }) },
          when: {
            shortOf: { is: windows.short },
            monthOf: { is: windows.month },
            short: { below: limits.perShortWindow ?? UNLIMITED },
            month: { below: limits.perMonth ?? UNLIMITED },
            ...(lease && { running: { below: limits.concurrent! } }),
          },
        });
        if (counted) return admitted(counted);

        const before = await table.get(idOf(account));
        windows = newest(windows, before);
        const used = usedIn(before, windows);
        const leases = { ...liveLeases(before, now), ...leased };
        const running = Object.keys(leases).length;
        const exceeded = exceededBy(limits, used, running);
        if (exceeded) return { admitted: false, used, exceeded };
        const ended = leasesIn(before).map(([name]) => [name, undefined]);
        const renewed = await table.update(idOf(account), {
          set: {
            ...Object.fromEntries(ended),
            ...leases,
            version: Number(before?.version ?? 0) + 1,
            shortOf: windows.short,
            monthOf: windows.month,
            short: used.short + 1,
            month: used.month + 1,
            running,
            // Calls in progress still count after the month has ended.
            expires: windowEnds(now).month + HOUR,
          },
          when: before ? { version: { is: before.version! } } : { id: 'absent' },
        });
        if (renewed) return admitted(renewed);
        // Another call was faster, and its window is now the current one.
      }
      throw new Error(`The limits of account ${account} could not be counted.`);
    },

    async release({ account, windows, lease }, refund) {
      if (lease === undefined && refund === 'none') return;
      const done = await table.update(idOf(account), {
        ...(lease && { set: { [lease]: undefined } }),
        add: {
          version: 1,
          ...(lease && { running: -1 }),
          ...(refund !== 'none' && { month: -1 }),
          ...(refund === 'all' && { short: -1 }),
        },
        when: {
          // The SDK may send an update twice. The second one finds no lease and refunds nothing.
          ...(lease && { [lease]: 'present' }),
          ...(refund !== 'none' && { monthOf: { is: windows.month }, month: { above: 0 } }),
          ...(refund === 'all' && { shortOf: { is: windows.short } }),
        },
      });
      if (done || refund === 'none') return;
      // A window has ended in the meantime, so less is refunded.
      const ticket = { account, windows, ...(lease !== undefined && { lease }) };
      await this.release(ticket, refund === 'all' ? 'month' : 'none');
    },

    async endLeases() {
      for await (const item of table.list(PREFIX)) {
        const ended = leasesIn(item).map(([name]) => [name, undefined]);
        await table.update(item.id, { set: { ...Object.fromEntries(ended), running: 0 } });
      }
    },

    async used(account, now = Date.now()) {
      return usedIn(await table.get(idOf(account)), windowsAt(now));
    },
  };
}

function exceededBy(limits: CallLimits, used: Used, running: number): Exceeded | undefined {
  if (used.short >= (limits.perShortWindow ?? UNLIMITED)) return 'perShortWindow';
  if (used.month >= (limits.perMonth ?? UNLIMITED)) return 'perMonth';
  return running > (limits.concurrent ?? UNLIMITED) ? 'concurrent' : undefined;
}

/**
 * Returns the windows that an item counts if they are the next ones, because another call began them while this one
 * waited. An item from further ahead was written by a wrong clock.
 */
function newest(windows: Windows, item: Item | undefined): Windows {
  const isNext = Number(item?.shortOf) === Number(windows.short) + 1;
  return isNext ? { short: String(item!.shortOf), month: String(item!.monthOf) } : windows;
}

function leasesIn(item: Item | undefined): Array<[string, number]> {
  return Object.entries(item ?? {}).filter(([name]) => name.startsWith(LEASE)) as Array<[string, number]>;
}

function liveLeases(item: Item | undefined, now: number): Attributes {
  return Object.fromEntries(leasesIn(item).filter(([, expires]) => expires > now));
}

function usedIn(item: Item | undefined, windows: Windows): Used {
  return {
    short: item?.shortOf === windows.short ? Number(item.short) : 0,
    month: item?.monthOf === windows.month ? Number(item.month) : 0,
  };
}
