import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';

/** All processes of one kind, together. */
export interface Kind {
  readonly processes: number;
  /** Resident MiB, with shared memory counted for each process. */
  readonly memory: number;
  readonly descriptors: number;
  readonly threads: number;
}

export type Census = Readonly<Record<string, Kind>>;

const NONE: Kind = { processes: 0, memory: 0, descriptors: 0, threads: 0 };

/** Counts what a process and its descendants hold, by kind of process. */
export function takeCensus(root: number): Census {
  const found: Record<string, Kind> = {};
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc')) {
    const parent = /^\d+$/.test(name) ? statusOf(Number(name))?.get('PPid') : undefined;
    if (parent !== undefined) parents.set(Number(name), Number(parent));
  }
  const isBelow = (pid: number): boolean => {
    for (let at: number | undefined = pid; at; at = parents.get(at)) if (at === root) return true;
    return false;
  };
  for (const pid of parents.keys()) {
    const status = isBelow(pid) ? statusOf(pid) : undefined;
    // A process that has ended holds nothing.
    if (!status || status.get('State')?.startsWith('Z')) continue;
    const kind = kindOf(pid);
    const known = found[kind] ?? NONE;
    found[kind] = {
      processes: known.processes + 1,
      memory: known.memory + Number.parseInt(status.get('VmRSS') ?? '0', 10) / 1024,
      descriptors: known.descriptors + descriptorsOf(pid),
      threads: known.threads + Number(status.get('Threads')),
    };
  }
  return found;
}

export function total(census: Census): Kind {
  return Object.values(census).reduce(
    (sum, kind) => ({
      processes: sum.processes + kind.processes,
      memory: sum.memory + kind.memory,
      descriptors: sum.descriptors + kind.descriptors,
      threads: sum.threads + kind.threads,
    }),
    NONE,
  );
}

function statusOf(pid: number): ReadonlyMap<string, string> | undefined {
  try {
    const lines = readFileSync(`/proc/${pid}/status`, 'latin1').matchAll(/^(\w+):\s*(.*)$/gm);
    return new Map([...lines].map(([, name, value]) => [name!, value!]));
  } catch {
    return undefined;
  }
}

function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** Returns the name of the program, or of the module that it runs. */
function kindOf(pid: number): string {
  try {
    // Chromium replaces the zeros between words by spaces.
    const words = readFileSync(`/proc/${pid}/cmdline`, 'latin1').split(/[\0 ]/);
    const module = words.find((word) => word.endsWith('.ts'));
    if (module) return module.split('/').slice(-2).join('/');
    const type = words.find((word) => word.startsWith('--type='))?.slice('--type='.length);
    // Engines in C are started by the loader of their own C library.
    const library = words.indexOf('--library-path');
    const program = library < 0 ? words[0] : words[library + 2];
    return [basename(program ?? ''), type].filter(Boolean).join(' ');
  } catch {
    return 'ended';
  }
}
