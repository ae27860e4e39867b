import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** Requests of a well-behaved account while another one attacks. */
export interface Heartbeat {
  readonly beats: number;
  /** Milliseconds of the slowest request since the last reset. */
  readonly worst: number;
  readonly median: number;
  /** Latency of an idle control server during the slowest request, in milliseconds. It is due to the machine. */
  readonly control: number;
  /** Most milliseconds during a request for which the host of this virtual machine gave a core to others. */
  readonly stolen: number;
  /** Maximum milliseconds by which a request took longer than both. */
  readonly delay: number;
  /** Milliseconds of each request since the last reset, in their order. */
  readonly times: readonly number[];
  /** By how many milliseconds each of them took longer than both, below 0 if it did not. */
  readonly delays: readonly number[];
  /** Responses other than the status of the missing source. */
  readonly failures: readonly string[];
  /** Waits for enough requests to judge. On a busy machine, a whole attack may take less time. */
  settle(): Promise<void>;
  /** Discards previous values, because the first requests of a service are slow. */
  reset(): Promise<void>;
  stop(): void;
}

interface Beat {
  readonly milliseconds: number;
  readonly control: number;
  readonly stolen: number;
  readonly code: string;
}

/** Maximum delay of another account, in milliseconds. */
export const MAX_DELAY = 250;

const MAIN = fileURLToPath(new URL('./heartbeat-main.ts', import.meta.url));
const WARM_BEATS = 10;
/** Minimum number of requests during an attack. */
const MIN_BEATS = 5;
const LOOK_INTERVAL = 50;

/** Starts the requests. `host` responds with status 404. */
export function startHeartbeat(base: string, apiKey: string, host: string): Heartbeat {
  const child = spawn(process.execPath, [MAIN, base, apiKey, host], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let beats: Beat[] = [];
  let failures: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const beat = JSON.parse(line) as Beat;
    beats.push(beat);
    if (beat.code !== 'SOURCE_STATUS') failures.push(beat.code);
  });
  const reach = async (count: number) => {
    while (beats.length < count && child.exitCode === null) await setTimeout(LOOK_INTERVAL);
  };
  const slowest = () => beats.toSorted((a, b) => a.milliseconds - b.milliseconds);
  return {
    get beats() {
      return beats.length;
    },
    get times() {
      return beats.map(({ milliseconds }) => milliseconds);
    },
    get delays() {
      return beats.map(({ milliseconds, control, stolen }) => milliseconds - Math.max(control, stolen));
    },
    get worst() {
      return Math.round(slowest().at(-1)?.milliseconds ?? 0);
    },
    get median() {
      return Math.round(slowest()[beats.length >> 1]?.milliseconds ?? 0);
    },
    get control() {
      return Math.round(slowest().at(-1)?.control ?? 0);
    },
    get stolen() {
      return Math.round(slowest().at(-1)?.stolen ?? 0);
    },
    get delay() {
      return Math.round(Math.max(0, ...this.delays));
    },
    get failures() {
      return failures;
    },
    settle: () => reach(MIN_BEATS),
    async reset() {
      await reach(beats.length + WARM_BEATS);
      beats = [];
      failures = [];
    },
    stop: () => child.kill('SIGKILL'),
  };
}

/** Waits for enough requests, then returns the other account's problems as failures of a row. */
export async function heartbeatFailures(heartbeat: Heartbeat, maxDelay = MAX_DELAY): Promise<string[]> {
  await heartbeat.settle();
  const { delay, worst, control, stolen, failures, beats } = heartbeat;
  return [
    ...(delay > maxDelay
      ? [
          `the other account waited ${delay} ms while an idle server answered (at most ${worst} ms, for ${control} ms of which the idle server did not answer either, and a core was stolen for ${stolen} ms)`,
        ]
      : []),
    ...(failures.length > 0
      ? [`${failures.length} requests of the other account failed: ${failures[0]}`]
      : []),
    ...(beats < MIN_BEATS ? [`only ${beats} requests of the other account`] : []),
  ];
}
