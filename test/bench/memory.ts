import { readdirSync, readFileSync } from 'node:fs';

/** How the processes of a tool's engine are told from the others: a part of their command line. */
const ENGINE_WORDS: Readonly<Record<string, string>> = { doc2any: '/libreoffice/' };

/**
 * Memory of the service and one tool's engine processes in MiB, pages that several share counted once (PSS); the engines
 * of the other tools, which stand by meanwhile, are left out.
 */
export function toolMemory(service: number, tool: string): number {
  const children = new Map<number, number[]>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? parentOf(Number(name)) : undefined;
    if (parent !== undefined) children.set(parent, [...(children.get(parent) ?? []), Number(name)]);
  }
  const word = ENGINE_WORDS[tool] ?? `/${tool}/`;
  const engines = (children.get(service) ?? []).filter((pid) => read(`/proc/${pid}/cmdline`)?.includes(word));
  for (const pid of engines) engines.push(...(children.get(pid) ?? []));
  return [service, ...engines].reduce((sum, pid) => sum + proportional(pid), 0);
}

/** Watches the memory of a tool until it is told to stop, which answers the peak. */
export function watchMemory(service: number, tool: string, interval = 150): () => number {
  let peak = toolMemory(service, tool);
  const timer = setInterval(() => {
    peak = Math.max(peak, toolMemory(service, tool));
  }, interval);
  return () => {
    clearInterval(timer);
    return Math.max(peak, toolMemory(service, tool));
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
