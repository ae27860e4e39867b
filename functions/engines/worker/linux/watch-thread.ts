import { parentPort } from 'node:worker_threads';
import { type Examination, examine, type GroupState } from './examine.ts';

/** Delay in milliseconds before the group is killed, in which the result can arrive. */
const REPORT_DELAY = 10;

parentPort!.on('message', ({ id, request }: { id: number; request: Examination }) => {
  parentPort!.postMessage({ id, result: examineAndKill(request) });
});

/** Examines a group, and kills it if it has too many threads. */
function examineAndKill(examination: Examination): GroupState {
  const state = examine(examination);
  const { group, maxThreads } = examination;
  // Kills in this thread, because the main thread may be too late. The result is sent first, or the exit would count
  // as a crash.
  if (state.threads > maxThreads) setTimeout(kill, REPORT_DELAY, group);
  return state;
}

function kill(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // The group has exited.
  }
}
