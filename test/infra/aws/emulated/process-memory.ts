import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';

const CHUNK = 4 * 2 ** 20;

/** Milliseconds for which a process that starts a program may not be readable. */
const START_TIME = 5000;
const INTERVAL = 20;

/** Whether a process has a text anywhere in its writable memory, as bytes or as UTF-16. One that has ended has none. */
export async function holds(pid: number, text: string): Promise<boolean> {
  for (const end = Date.now() + START_TIME; ; await setTimeout(INTERVAL)) {
    try {
      return search(pid, text);
    } catch (thrown) {
      const { code = '' } = thrown as NodeJS.ErrnoException;
      if (['ESRCH', 'ENOENT'].includes(code)) return false;
      if (code !== 'EACCES' || Date.now() > end) throw thrown;
    }
  }
}

function search(pid: number, text: string): boolean {
  const patterns = [Buffer.from(text), Buffer.from(text, 'utf16le')];
  const maps = readFileSync(`/proc/${pid}/maps`, 'utf8').split('\n');
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const buffer = Buffer.alloc(CHUNK);
  try {
    for (const [, from, to, name] of maps.flatMap((line) => regions(line))) {
      if (name === '[vvar]') continue;
      for (let place = Number(from); place < Number(to); place += CHUNK - text.length * 2) {
        const length = Math.min(CHUNK, Number(to) - place);
        const bytes = read(memory, buffer, length, place);
        if (patterns.some((pattern) => buffer.subarray(0, bytes).includes(pattern))) return true;
      }
    }
  } finally {
    closeSync(memory);
  }
  return false;
}

/** The readable and writable regions of a line of `/proc/<pid>/maps`. */
function regions(line: string): Array<readonly [string, number, number, string]> {
  const match = /^([0-9a-f]+)-([0-9a-f]+) rw\S* \S+ \S+ \d+\s*(.*)$/.exec(line);
  return match ? [[line, Number.parseInt(match[1]!, 16), Number.parseInt(match[2]!, 16), match[3]!]] : [];
}

function read(file: number, into: Buffer, length: number, place: number): number {
  try {
    return readSync(file, into, 0, length, place);
  } catch {
    // Pages that were never touched, or no longer exist.
    return 0;
  }
}
