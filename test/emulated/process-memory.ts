import { closeSync, openSync, readFileSync, readSync } from 'node:fs';

const CHUNK = 4 * 2 ** 20;

/**
 * Whether a process has a text anywhere in its writable memory, as bytes or as UTF-16. One that has ended has none, also while its
 * parent is frozen and does not notice: it is a zombie then, whose list of regions is empty and whose memory cannot be opened.
 */
export function holds(pid: number, text: string): boolean {
  try {
    return search(pid, text);
  } catch (thrown) {
    if (regionsOf(pid).length === 0) return false;
    throw thrown;
  }
}

function search(pid: number, text: string): boolean {
  const patterns = [Buffer.from(text), Buffer.from(text, 'utf16le')];
  const regions = regionsOf(pid);
  if (regions.length === 0) return false;
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const buffer = Buffer.alloc(CHUNK);
  try {
    for (const [from, to, name] of regions) {
      if (name === '[vvar]') continue;
      for (let place = from; place < to; place += CHUNK - text.length * 2) {
        const bytes = read(memory, buffer, Math.min(CHUNK, to - place), place);
        if (patterns.some((pattern) => buffer.subarray(0, bytes).includes(pattern))) return true;
      }
    }
  } finally {
    closeSync(memory);
  }
  return false;
}

/** The readable and writable regions of a process, none if it has ended. See `/proc/<pid>/maps` in proc(5). */
function regionsOf(pid: number): Array<readonly [number, number, string]> {
  let maps = '';
  try {
    maps = readFileSync(`/proc/${pid}/maps`, 'utf8');
  } catch (thrown) {
    if (!['ESRCH', 'ENOENT'].includes((thrown as NodeJS.ErrnoException).code!)) throw thrown;
  }
  return maps.split('\n').flatMap((line) => {
    const match = /^([0-9a-f]+)-([0-9a-f]+) rw\S* \S+ \S+ \d+\s*(.*)$/.exec(line);
    return match
      ? [[Number.parseInt(match[1]!, 16), Number.parseInt(match[2]!, 16), match[3]!] as const]
      : [];
  });
}

function read(file: number, into: Buffer, length: number, place: number): number {
  try {
    return readSync(file, into, 0, length, place);
  } catch {
    // Pages that were never touched, or no longer exist.
    return 0;
  }
}
