import { setImmediate } from 'node:timers/promises';
import { createFairQueue } from '../shared/fair-queue.ts';

const queue = createFairQueue({ total: 1, perAccount: 1 });

/**
 * Waits for a turn of the event loop in which no other call goes on. Accounts take turns. A call begins and ends with a few
 * milliseconds of work, and one account may have many that do so at the same time.
 */
export function takeTurn(account: string): Promise<unknown> {
  return queue.run(account, () => setImmediate());
}
