import { readdirSync, readFileSync } from 'node:fs';

/** Memory of a process and all its descendants in MiB, pages that several share counted once (PSS). */
export function treeMemory(root: number): number {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(Number(name)) : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const tree = [root];
  for (const pid of tree) tree.push(...(children.get(pid) ?? []));
  return tree.reduce((sum, pid) => sum + proportional(pid), 0);
}

/** Watches the memory of a process tree until it is told to stop, which answers the peak. */
export function watchMemory(root: number, interval = 100): () => number {
  let peak = treeMemory(root);
  const timer = setInterval(() => {
    peak = Math.max(peak, treeMemory(root));
  }, interval);
  return () => {
    clearInterval(timer);
    return Math.max(peak, treeMemory(root));
  };
}

function parentOf(pid: number): number | undefined {
  // The second field, a program's name in parentheses, may hold anything.
  const fields = read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ');
  return fields && Number(fields[1]);
}

function proportional(pid: number): number {
  const kibibytes = /^Pss:\s+(\d+)/m.exec(read(`/proc/${pid}/smaps_rollup`) ?? '')?.[1];
  return Number(kibibytes ?? 0) / 1024;
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
}
