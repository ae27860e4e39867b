import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';

/** Chromium's own score for the processes of pages. It reports an error if it cannot lower a higher score. */
const OOM_SCORE = 300;
/** Minimum difference from the server's own score, which a container may have raised. */
const MIN_DIFFERENCE = 100;
const MAX_OOM_SCORE = 1000;

/**
 * Makes the kernel kill a child process and its descendants rather than the server when the machine or the container
 * runs out of memory. The child's conversion is then retried or fails, and the others continue.
 */
export function preferAsOomVictim({ pid }: ChildProcess): void {
  if (pid === undefined) return;
  const score = Math.min(Math.max(OOM_SCORE, ownScore() + MIN_DIFFERENCE), MAX_OOM_SCORE);
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, String(score));
  } catch {
    // It has already exited, or the system does not support it.
  }
}

function ownScore(): number {
  try {
    return Number(readFileSync('/proc/self/oom_score_adj', 'latin1'));
  } catch {
    return 0;
  }
}
