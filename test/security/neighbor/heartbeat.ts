import { type ChildProcess, spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

/** A request of a well-behaved account. */
export interface Beat {
  readonly milliseconds: number;
  /** Latency of an idle control server during the request, in milliseconds. It is due to the machine. */
  readonly control: number;
  /** Maximum milliseconds for which the host of this virtual machine gave a core to others. */
  readonly stolen: number;
  /** Code of its response, `SOURCE_STATUS` for the missing source. */
  readonly code: string;
}

/** Requests of a well-behaved account while another one attacks. */
export interface Heartbeat {
  /** The requests since the last reset, in their order. */
  readonly beats: readonly Beat[];
  /** Waits for enough requests to judge. On a busy machine, a whole attack may take less time. */
  settle(): Promise<void>;
  /** Starts the requests, or discards previous ones, because the first requests of a service are slow. */
  reset(): Promise<void>;
  stop(): void;
}

const MAIN = fileURLToPath(new URL('./heartbeat-main.ts', import.meta.url));
const WARM_BEATS = 10;
/** Minimum number of requests during an attack. */
export const MIN_BEATS = 5;
const LOOK_INTERVAL = 50;

/** Returns by how many milliseconds a request took longer than both others. */
export function delayOf({ milliseconds, control, stolen }: Beat): number {
  return milliseconds - Math.max(control, stolen);
}

/** Prepares requests to a service. `host` responds with status 404. */
export function prepareHeartbeat(base: string, apiKey: string, host: string): Heartbeat {
  let child: ChildProcess | undefined;
  let beats: Beat[] = [];
  const start = () => {
    child = spawn(process.execPath, [MAIN, base, apiKey, host], { stdio: ['ignore', 'pipe', 'inherit'] });
    createInterface({ input: child.stdout! }).on('line', (line) => beats.push(JSON.parse(line) as Beat));
  };
  const reach = async (count: number) => {
    while (beats.length < count && child?.exitCode === null) await setTimeout(LOOK_INTERVAL);
  };
  return {
    get beats() {
      return beats;
    },
    settle: () => reach(MIN_BEATS),
    async reset() {
      if (!child) start();
      await reach(beats.length + WARM_BEATS);
      beats = [];
    },
    stop: () => void child?.kill('SIGKILL'),
  };
}
