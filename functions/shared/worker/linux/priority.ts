import type { ChildProcess } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { setPriority } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';

/** The kernel accepts one change in 100 ms from all ordinary users together. */
const RETRY_INTERVAL = 110;
const RETRIES = 30;
/** What Chromium sets for the processes of pages. It complains if it cannot lower a higher score. */
const OOM_SCORE = 300;
/** Above the server's own score, which a container may have raised. */
const LEAST_DIFFERENCE = 100;
const MOST_OOM_SCORE = 1000;

/**
 * Sets the priority of a child process that has a session of its own, and of what it starts, to a number as
 * in nice(1). Only the first one has an effect on kernels that do not group processes by session: there, an
 * ordinary user cannot raise it again.
 */
export function priorityOf(child: ChildProcess): (nice: number) => Promise<void> {
  let wanted: number | undefined;
  let applied: number | undefined;
  let isTrying = false;

  /**
   * On kernels that group processes by session, priorities count only within a session, and each session has
   * its own; see sched(7).
   */
  async function setSessionPriority(): Promise<void> {
    if (isTrying) return;
    isTrying = true;
    for (let tries = 0; tries < RETRIES && wanted !== applied && isRunning(child); tries += 1) {
      const next = wanted;
      const error = write(`/proc/${child.pid}/autogroup`, String(next));
      if (error === undefined) applied = next;
      else if (error === 'EAGAIN') await sleep(RETRY_INTERVAL, undefined, { ref: false });
      else break;
    }
    isTrying = false;
  }

  return (nice) => {
    if (wanted === undefined) lowerOnce(child, nice);
    wanted = nice;
    return setSessionPriority();
  };
}

/**
 * Lets the kernel kill a child process, and what it starts, rather than the server when the machine or the
 * container runs out of memory. Its conversion is then retried or fails, and the others continue.
 */
export function killFirstWithoutMemory({ pid }: ChildProcess): void {
  // Fails if it has already exited, or the system does not support it.
  if (pid === undefined) return;
  const score = Math.min(Math.max(OOM_SCORE, ownScore() + LEAST_DIFFERENCE), MOST_OOM_SCORE);
  write(`/proc/${pid}/oom_score_adj`, String(score));
}

function ownScore(): number {
  try {
    return Number(readFileSync('/proc/self/oom_score_adj', 'latin1'));
  } catch {
    return 0;
  }
}

function lowerOnce({ pid }: ChildProcess, nice: number): void {
  try {
    if (pid !== undefined) setPriority(pid, nice);
  } catch {
    // It has already exited, or the system does not support priorities.
  }
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}

/** Returns the code of the error, if any. */
function write(path: string, text: string): string | undefined {
  try {
    writeFileSync(path, text);
    return undefined;
  } catch (thrown) {
    return (thrown as NodeJS.ErrnoException).code;
  }
}
