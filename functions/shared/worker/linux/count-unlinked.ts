import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import type { Unlinked } from './unlinked.ts';

const SCRIPT = fileURLToPath(new URL('./unlinked-thread.ts', import.meta.url));
const NOTHING: Unlinked = { disk: 0, memory: 0 };

const waiting = new Map<number, (unlinked: Unlinked) => void>();
let thread: Worker | undefined;
let last = 0;

/**
 * Finds deleted files and shared memory of processes, in a thread: a browser takes 2 ms, a compromised engine
 * 100 ms. The thread starts with the first call.
 */
export async function countUnlinked(pids: readonly number[]): Promise<Unlinked> {
  try {
    thread ??= startThread();
  } catch {
    // The system has no free thread. The next call tries again.
    return NOTHING;
  }
  last += 1;
  const id = last;
  return new Promise((resolve) => {
    waiting.set(id, resolve);
    thread!.postMessage({ id, pids });
  });
}

function startThread(): Worker {
  const started = new Worker(SCRIPT, {
    env: {},
    execArgv: [],
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 8 },
  });
  started.unref();
  started.on('message', ({ id, unlinked }: { id: number; unlinked: Unlinked }) => {
    waiting.get(id)?.(unlinked);
    waiting.delete(id);
  });
  // The next call starts another one.
  started.on('error', () => {});
  started.on('exit', () => {
    thread = undefined;
    for (const resolve of waiting.values()) resolve(NOTHING);
    waiting.clear();
  });
  return started;
}
