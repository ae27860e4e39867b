import { setTimeout } from 'node:timers/promises';
import { heartbeatFailures, MAX_DELAY } from './heartbeat.ts';
import type { SharedService } from './service.ts';

/** Effect of an attack on the other account and on the server's own process. */
export interface Verdict {
  readonly figure: string;
  readonly failures: readonly string[];
  /** Why the run does not show that the other account was served in time, although nothing failed. */
  readonly unproven?: string;
}

type Judged = Pick<SharedService, 'heartbeat' | 'peakMemory' | 'mainThreadTime'>;

/** Maximum MiB of the server's own process. */
export const MAX_MEMORY = 300;
/** Milliseconds of the main thread of CPU time in a second without requests. */
const MAX_IDLE = 200;
/** Seconds after which the main thread must be idle. */
const CALM_TIME = 30;

/**
 * Judges a service at the end of an attack: the other account's slowest request, memory, and CPU after all callers have
 * disconnected. A request that took longer than the target is a failure if the service delayed it by more than `maxDelay`.
 * Otherwise the machine was too busy to show anything.
 */
export async function judge(service: Judged, maxDelay: number): Promise<Verdict> {
  const failures = await heartbeatFailures(service.heartbeat, maxDelay);
  const { worst, control, stolen, median, beats } = service.heartbeat;
  const isLate = worst > MAX_DELAY && failures.length === 0;
  service.heartbeat.stop();
  const idle = await idleTime(service);
  if (idle > MAX_IDLE) failures.push(`the main thread used ${idle} ms of a second without callers`);
  const peak = Math.round(service.peakMemory());
  if (peak > MAX_MEMORY) failures.push(`the server took ${peak} MiB`);
  const beat = `${worst} ms (median ${median}, ${beats} beats, idle server meanwhile ${control} ms, stolen ${stolen} ms)`;
  return {
    figure: `${beat}; server ${peak} MiB, CPU ${service.mainThreadTime()} ms, then ${idle} ms/s`,
    failures,
    ...(isLate && {
      unproven: `a request of the second account took ${worst} ms on a busy machine, where an idle server took ${control} ms, and whose host stole a core for ${stolen} ms`,
    }),
  };
}

/** CPU milliseconds of the main thread in one second, once it is idle. */
async function idleTime(service: Judged): Promise<number> {
  let used = 0;
  for (let second = 0; second < CALM_TIME; second += 1) {
    const before = service.mainThreadTime();
    await setTimeout(1000);
    used = service.mainThreadTime() - before;
    if (used <= MAX_IDLE) break;
  }
  return used;
}
