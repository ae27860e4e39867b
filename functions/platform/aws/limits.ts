import { randomUUID } from 'node:crypto';
import type { AdmissionRequest, Exceeded, Limiter, Used } from '../limits/limits.ts';
import { type Windows, windowsAt } from '../limits/windows.ts';
import { type Item, openTable, type TableLocation, type Update } from './table.ts';

/** Exceeds every real limit, so that one expression works for accounts with and without a limit. */
const UNLIMITED = Number.MAX_SAFE_INTEGER;
/** Seconds after which the counters of an inactive account are deleted. */
const COUNTER_LIFETIME = 70 * 24 * 3600;
/** Maximum number of attempts to start a window before a call gives up. */
const MAX_ATTEMPTS = 1000;

/**
 * Counts in one item per account, `limits#<account>`. One conditional update admits a call. It fails when a window
 * has ended or a call in progress was never released. A second update then starts a new window, unless another call
 * has done so. The item is read only to find out which case it is.
 */
export function createDynamoLimiter(location: TableLocation): Limiter {
  const table = openTable(location);
  const idOf = (account: string) => `limits#${account}`;

  return {
    async admit(call) {
      const { account, limits, now = Date.now(), shortWindow } = call;
      let windows = windowsAt(now, shortWindow);
      const lease = limits.concurrent === undefined ? undefined : `l${randomUUID().replaceAll('-', '')}`;
      for (let round = 0; round < MAX_ATTEMPTS; round++) {
        const counted = await table.update(idOf(account), countInWindow(call, windows, lease));
        if (counted) return admitted(counted);
        const item = await table.get(idOf(account));
        windows = newest(windows, item);
        const exceeded = exceededBy(item, call, windows, now);
        if (exceeded) return { admitted: false, used: usedIn(item, windows), exceeded };
        const renewed = await table.update(idOf(account), renewWindow(item, call, windows, lease, now));
        if (renewed) return admitted(renewed);
        // Another call was faster, and its window is now the current one.
      }
      throw new Error(`The limits of account ${account} could not be counted.`);

      function admitted(item: Item) {
        const ticket = { account, windows, ...(lease !== undefined && { lease }) };
        return { admitted: true, used: usedIn(item, windows), ticket } as const;
      }
    },

    async release({ account, windows, lease }, refund) {
      const names = lease === undefined ? undefined : { '#lease': lease };
      const end = lease === undefined ? '' : ' REMOVE leases.#lease';
      if (refund !== 'none') {
        const both = refund === 'all';
        const refunds = [...(both ? ['minuteUsed = minuteUsed - :one'] : []), 'monthUsed = monthUsed - :one'];
        // The SDK may send an update twice. The second one finds no lease and refunds nothing.
        const once = lease === undefined ? '' : 'attribute_exists(leases.#lease) AND ';
        const done = await table.update(idOf(account), {
          expression: `SET version = version + :one, ${refunds.join(', ')}${end}`,
          when: `${once}${both ? 'minuteOf = :minute AND ' : ''}monthOf = :month AND monthUsed > :zero`,
          ...(names && { names }),
          values: {
            ':one': { N: '1' },
            ':zero': { N: '0' },
            ':month': { S: windows.month },
            ...(both && { ':minute': { S: windows.short } }),
          },
        });
        if (done) return;
        // The short window has ended in the meantime, so only the month is refunded.
        if (both) return this.release({ account, windows, ...(lease !== undefined && { lease }) }, 'month');
      }
      if (names) {
        const expression = `SET version = version + :one${end}`;
        await table.update(idOf(account), {
          expression,
          when: 'attribute_exists(id)',
          names,
          values: { ':one': { N: '1' } },
        });
      }
    },

    async used(account, now = Date.now()) {
      return usedIn(await table.get(idOf(account)), windowsAt(now));
    },
  };
}

/** Returns the update that almost every call needs. */
function countInWindow(
  { limits, expires }: AdmissionRequest,
  windows: Windows,
  lease: string | undefined,
): Update {
  return {
    expression: `SET version = version + :one, minuteUsed = minuteUsed + :one, monthUsed = monthUsed + :one${lease ? ', leases.#lease = :expires' : ''}`,
    when:
      'minuteOf = :minute AND monthOf = :month AND minuteUsed < :perShortWindow AND monthUsed < :perMonth' +
      (lease ? ' AND size(leases) < :concurrent' : ''),
    ...(lease && { names: { '#lease': lease } }),
    values: {
      ':one': { N: '1' },
      ':minute': { S: windows.short },
      ':month': { S: windows.month },
      ':perShortWindow': { N: String(limits.perShortWindow ?? UNLIMITED) },
      ':perMonth': { N: String(limits.perMonth ?? UNLIMITED) },
      ...(lease && { ':expires': { N: String(expires) }, ':concurrent': { N: String(limits.concurrent) } }),
    },
  };
}

/** Replaces the whole item unless it has changed since it was read. */
function renewWindow(
  item: Item | undefined,
  { expires }: AdmissionRequest,
  windows: Windows,
  lease: string | undefined,
  now: number,
): Update {
  const used = usedIn(item, windows);
  const leases = { ...liveLeases(item, now), ...(lease && { [lease]: { N: String(expires) } }) };
  const values: Item = {
    ':minute': { S: windows.short },
    ':month': { S: windows.month },
    ':minuteUsed': { N: String(used.short + 1) },
    ':monthUsed': { N: String(used.month + 1) },
    ':leases': { M: leases },
    ':version': { N: String(Number(item?.version?.N ?? 0) + 1) },
    ':kept': { N: String(Math.floor(now / 1000) + COUNTER_LIFETIME) },
  };
  const expression =
    'SET minuteOf = :minute, monthOf = :month, minuteUsed = :minuteUsed, monthUsed = :monthUsed, leases = :leases, expires = :kept, version = :version';
  if (!item) return { expression, when: 'attribute_not_exists(id)', values };
  return {
    expression,
    when: 'version = :oldVersion',
    values: { ...values, ':oldVersion': item.version! },
  };
}

function exceededBy(
  item: Item | undefined,
  { limits }: AdmissionRequest,
  windows: Windows,
  now: number,
): Exceeded | undefined {
  const used = usedIn(item, windows);
  if (used.short >= (limits.perShortWindow ?? UNLIMITED)) return 'perShortWindow';
  if (used.month >= (limits.perMonth ?? UNLIMITED)) return 'perMonth';
  const running = Object.keys(liveLeases(item, now)).length;
  return running >= (limits.concurrent ?? UNLIMITED) ? 'concurrent' : undefined;
}

/**
 * Returns the windows that an item counts if they are the next ones, because another call began them while this one
 * waited. An item from further ahead was written by a wrong clock.
 */
function newest(windows: Windows, item: Item | undefined): Windows {
  const [short, month] = [item?.minuteOf?.S, item?.monthOf?.S];
  if (!short || !month || Number(short) !== Number(windows.short) + 1) return windows;
  return { short, month };
}

function liveLeases(item: Item | undefined, now: number): Item {
  const leases = Object.entries(item?.leases?.M ?? {});
  return Object.fromEntries(leases.filter(([, { N }]) => Number(N) > now));
}

function usedIn(item: Item | undefined, { short, month }: Windows): Used {
  return {
    short: item?.minuteOf?.S === short ? Number(item.minuteUsed!.N) : 0,
    month: item?.monthOf?.S === month ? Number(item.monthUsed!.N) : 0,
  };
}
