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
  /** Milliseconds of the slowest request to a server that does nothing: the share of the machine itself. */
  readonly control: number;
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
  readonly code: string;
}

/** Maximum delay of another account, in milliseconds. */
export const MOST_DELAY = 250;

const MAIN = fileURLToPath(new URL('./heartbeat-main.ts', import.meta.url));
const WARM_BEATS = 10;
/** Minimum number of requests during an attack. */
const LEAST_BEATS = 5;
const LOOK_INTERVAL = 50;

/** Starts the requests. `host` responds with status 404. */
export function startHeartbeat(base: string, apiKey: string, host: string): Heartbeat {
  const child = spawn(process.execPath, [MAIN, base, apiKey, host], { stdio: ['ignore', 'pipe', 'inherit'] });
  let times: number[] = [];
  let controls: number[] = [];
  let failures: string[] = [];
  createInterface({ input: child.stdout }).on('line', (line) => {
    const { milliseconds, control, code } = JSON.parse(line) as Beat;
    times.push(milliseconds);
    controls.push(control);
    if (code !== 'SOURCE_STATUS') failures.push(code);
  });
  const reach = async (count: number) => {
    while (times.length < count && child.exitCode === null) await setTimeout(LOOK_INTERVAL);
  };
  return {
    get beats() {
      return times.length;
    },
    get worst() {
      return Math.round(Math.max(0, ...times));
    },
    get median() {
      return Math.round(times.toSorted((a, b) => a - b)[times.length >> 1] ?? 0);
    },
    get control() {
      return Math.round(Math.max(0, ...controls));
    },
    get failures() {
      return failures;
    },
    settle: () => reach(LEAST_BEATS),
    async reset() {
      await reach(times.length + WARM_BEATS);
      times = [];
      controls = [];
      failures = [];
    },
    stop: () => child.kill('SIGKILL'),
  };
}

/** Waits for enough requests, then returns the other account's problems as failures of a row. */
export async function heartbeatFailures(heartbeat: Heartbeat, most = MOST_DELAY): Promise<string[]> {
  await heartbeat.settle();
  const { worst, control, failures, beats } = heartbeat;
  return [
    ...(worst > most + control
      ? [`the other account waited ${worst} ms, a server that does nothing ${control} ms`]
      : []),
    ...(failures.length > 0
      ? [`${failures.length} requests of the other account failed: ${failures[0]}`]
      : []),
    ...(beats < LEAST_BEATS ? [`only ${beats} requests of the other account`] : []),
  ];
}
