import { readdirSync, readFileSync } from 'node:fs';

/** Answers a process and everything below it; orphans of a sandbox stay below its first process. */
export function treeOf(root: number): number[] {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name)) continue;
    // After the name in parentheses come state and parent.
    const parent = Number(/^.*\) . (\d+)/s.exec(read(`/proc/${name}/stat`))?.[1]);
    children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree;
}

/** Sends a signal to all of them, again until no new one has appeared. */
export function signalTree(root: number, signal: 'SIGSTOP' | 'SIGCONT' | 'SIGKILL'): void {
  const seen = new Set<number>();
  for (let round = 0; round < 5; round++) {
    const fresh = treeOf(root).filter((pid) => !seen.has(pid));
    if (fresh.length === 0) return;
    for (const pid of fresh) {
      seen.add(pid);
      try {
        process.kill(pid, signal);
      } catch {
        // It has just ended.
      }
    }
  }
}

/** MiB of memory of a process and all below it, or of it alone, that count against a function: its own pages and shared memory, not files it has mapped. */
export function memoryOf(root: number, which: 'all' | 'alone' = 'all'): number {
  const pids = which === 'all' ? treeOf(root) : [root];
  return pids.reduce((sum, pid) => {
    const text = read(`/proc/${pid}/smaps_rollup`);
    const kibibytes = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(text)?.[1] ?? 0);
    return sum + (kibibytes('Pss_Anon') + kibibytes('Pss_Shmem')) / 1024;
  }, 0);
}

/** Milliseconds of processor that all of them have used so far, those that have ended included. */
export function processorOf(root: number): number {
  return treeOf(root).reduce((sum, pid) => {
    // After the name in parentheses, utime stime cutime cstime are the 12th to 15th; a tick is 10 ms.
    const fields = read(`/proc/${pid}/stat`)
      .replace(/^.*\) /s, '')
      .split(' ');
    return sum + 10 * fields.slice(11, 15).reduce((ticks, field) => ticks + Number(field), 0);
  }, 0);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
