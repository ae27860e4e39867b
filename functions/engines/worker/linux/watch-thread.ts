import { parentPort } from 'node:worker_threads';
import { type Examination, examine, type GroupState } from './examine.ts';

/** Milliseconds. */
const HEAD_START = 10;

parentPort!.on('message', ({ id, request }: { id: number; request: Examination }) => {
  parentPort!.postMessage({ id, result: examineAndKill(request) });
});

/** Examines a group, and kills it if it has too many threads. */
function examineAndKill(examination: Examination): GroupState {
  const state = examine(examination);
  const { group, maxThreads } = examination;
  // Here, because the main thread may be too late. The result comes first, or the exit would count as a crash.
  if (state.threads > maxThreads) setTimeout(kill, HEAD_START, group);
  return state;
}

function kill(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
