import { setTimeout } from 'node:timers/promises';
import { type Beat, delayOf, MIN_BEATS } from './heartbeat.ts';
import type { SharedService } from './service.ts';

/** Effect of an attack on the other account and on the server's own process. */
export interface Verdict {
  readonly figure: string;
  readonly failures: readonly string[];
  /** Why the run does not show that the other account was served in time, although nothing failed. */
  readonly unproven?: string;
}

/** Maximum delay of another account, in milliseconds. */
export const MAX_DELAY = 250;
/** Maximum MiB of the server's own process. */
export const MAX_MEMORY = 300;
/** Milliseconds of the main thread of CPU time in a second without requests. */
const MAX_IDLE = 200;
/** Seconds after which the main thread must be idle. */
const CALM_TIME = 30;

/**
 * Judges the requests of the other account. One that took longer than the target is a failure if the service delayed it. Otherwise the
 * machine was too busy to show anything.
 */
export function judgeBeats(beats: readonly Beat[]): Verdict {
  const sorted = beats.toSorted((a, b) => a.milliseconds - b.milliseconds);
  const rounded = (beat: Beat | undefined, key: 'milliseconds' | 'control' | 'stolen') =>
    Math.round(beat?.[key] ?? 0);
  const slowest = sorted.at(-1);
  const [worst, control, stolen] = (['milliseconds', 'control', 'stolen'] as const).map((key) =>
    rounded(slowest, key),
  ) as [number, number, number];
  const delay = Math.round(Math.max(0, ...beats.map(delayOf)));
  const failed = beats.filter(({ code }) => code !== 'SOURCE_STATUS');
  const failures = [
    ...(delay > MAX_DELAY
      ? [`the other account waited ${delay} ms while an idle server answered (at most ${worst} ms)`]
      : []),
    ...(failed.length > 0
      ? [`${failed.length} requests of the other account failed: ${failed[0]!.code}`]
      : []),
    ...(beats.length < MIN_BEATS ? [`only ${beats.length} requests of the other account`] : []),
  ];
  const median = rounded(sorted[sorted.length >> 1], 'milliseconds');
  return {
    figure: `${worst} ms (median ${median}, ${beats.length} beats, idle server meanwhile ${control} ms, stolen ${stolen} ms)`,
    failures,
    ...(worst > MAX_DELAY &&
      failures.length === 0 && {
        unproven: `a request of the second account took ${worst} ms on a busy machine, where an idle server took ${control} ms, and whose host stole a core for ${stolen} ms`,
      }),
  };
}

/** Judges a service at the end of an attack: the other account, memory, and CPU after all callers have disconnected. */
export async function judge(service: SharedService): Promise<Verdict> {
  await service.heartbeat.settle();
  const verdict = judgeBeats(service.heartbeat.beats);
  service.heartbeat.stop();
  const idle = await idleTime(service);
  const peak = Math.round(service.peakMemory());
  return {
    ...verdict,
    figure: `${verdict.figure}; server ${peak} MiB, CPU ${service.mainThreadTime()} ms, then ${idle} ms/s`,
    failures: [
      ...verdict.failures,
      ...(idle > MAX_IDLE ? [`the main thread used ${idle} ms of a second without callers`] : []),
      ...(peak > MAX_MEMORY ? [`the server took ${peak} MiB`] : []),
    ],
  };
}

/** CPU milliseconds of the main thread in one second, once it is idle. */
async function idleTime(service: SharedService): Promise<number> {
  let used = 0;
  for (let second = 0; second < CALM_TIME; second += 1) {
    const before = service.mainThreadTime();
    await setTimeout(1000);
    used = service.mainThreadTime() - before;
    if (used <= MAX_IDLE) break;
  }
  return used;
}
