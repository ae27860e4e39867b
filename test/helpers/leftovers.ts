import { readdirSync, readFileSync, readlinkSync } from 'node:fs';

export interface Process {
  readonly pid: number;
  readonly command: string;
}

/** Finds the processes of a directory, by their working directory or their environment. */
export function processesBelow(directory: string): Process[] {
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((pid) => {
      try {
        const lives =
          readlinkSync(`/proc/${pid}/cwd`).startsWith(directory) ||
          readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`=${directory}`);
        const command = readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ').trim();
        return lives && Number(pid) !== process.pid ? [{ pid: Number(pid), command }] : [];
      } catch {
        // It has just exited, or is another user's.
        return [];
      }
    });
}
