import type { ChildProcess } from 'node:child_process';
import { lstatSync, opendirSync, readFileSync, realpathSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';

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

/** Maximum number of files and directories. A directory with more counts as full, whatever their size. */
const MAX_FILES = 20_000;
/**
 * Number of files after which other work gets its turn. They are read in this thread, which costs less than passing
 * each to another.
 */
const SLICE = 256;
const BLOCK_BYTES = 512;

/**
 * Returns the bytes that a directory takes on disk, without holes. Infinity if it has more than 20,000 files, or if a
 * directory in it cannot be listed.
 */
export async function diskUsage(directory: string): Promise<number> {
  const directories = [directory];
  let bytes = 0;
  let files = 0;
  for (let next = directories.pop(); next !== undefined; next = directories.pop()) {
    const parent = next;
    try {
      // Not all names at once, because there can be any number of them.
      using opened = opendirSync(parent, { bufferSize: SLICE });
      for (let entry = opened.readSync(); entry; entry = opened.readSync()) {
        files += 1;
        if (files > MAX_FILES) return Number.POSITIVE_INFINITY;
        if (files % SLICE === 0) await setImmediate();
        const path = join(parent, entry.name);
        if (entry.isDirectory()) directories.push(path);
        bytes += BLOCK_BYTES * (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0);
      }
    } catch (thrown) {
      // A file that was deleted in the meantime takes no space, and there may be no free file descriptor. A directory
      // that its owner cannot list, or that is nested too deeply for a path, hides files.
      if (['EACCES', 'ENAMETOOLONG'].includes((thrown as NodeJS.ErrnoException).code ?? ''))
        return Number.POSITIVE_INFINITY;
    }
  }
  return bytes;
}

/**
 * Niceness increment (see nice(1)) of engines, because an engine serves one account and the server serves all. With
 * an increment of 5 and ten busy engines on two cores, the server's main thread still waited for up to 30 ms at a
 * time.
 */
const ENGINE_NICE = 15;
/** Niceness increment of download processes, between the server and the engines. */
export const DOWNLOAD_NICE = 5;

/**
 * Returns the command that starts engines in the session of this process, with a lower priority, so that busy ones
 * delay neither this process nor those of other accounts; see `layers/sandbox/launch.c`.
 */
export function launcherIn(layers: string, increment = ENGINE_NICE): readonly string[] {
  return [realpathSync(join(layers, 'sandbox/launch')), String(increment)];
}
