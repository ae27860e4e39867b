import { answer } from './answer.ts';
import { type Examination, examine } from './examine.ts';

/** Milliseconds. */
const HEAD_START = 10;

answer((examination: Examination) => {
  const state = examine(examination);
  const { group, maxThreads } = examination;
  // Here, because the main thread may be too late. The result comes first, or the exit would count as a crash.
  if (state.threads > maxThreads) setTimeout(kill, HEAD_START, group);
  return state;
});

function kill(group: number): void {
  try {
    process.kill(-group, 'SIGKILL');
  } catch {
    // It has ended.
  }
}
