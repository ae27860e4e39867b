import { readdirSync } from 'node:fs';
import { basename } from 'node:path';
import { processTree, readProcess, readStat } from '../../../functions/engines/worker/linux/proc.ts';

/** Number of processes, and their resident MiB (shared memory counts for each process), descriptors and threads. */
export type Holdings = readonly [processes: number, memory: number, descriptors: number, threads: number];
/** The holdings of each kind of process. */
export type Census = ReadonlyMap<string, Holdings>;

/** Counts what a process and its descendants hold. */
export function takeCensus(root: number): Census {
  const census = new Map<string, Holdings>();
  for (const pid of processTree(root)) {
    const { memory, threads } = readStat(pid);
    const kind = kindOf(readProcess(pid, 'cmdline'));
    // A process that has ended holds nothing.
    if (memory > 0) census.set(kind, sum([census.get(kind), [1, memory, descriptorsOf(pid), threads]]));
  }
  return census;
}

/** Prints two counts beside each other, one line for each kind of process and one for all. */
export function compareCensuses(before: Census, after: Census): string {
  const kinds = [...new Set([...before.keys(), ...after.keys()])].toSorted();
  const line = (name: string, one = NOTHING, other = NOTHING) => {
    const cells = one.map((value, column) => `${Math.round(value)} → ${Math.round(other[column]!)}`);
    return `| ${[name, ...cells].join(' | ')} |`;
  };
  return [
    '| processes | number | MiB | descriptors | threads |\n| --- | ---: | ---: | ---: | ---: |',
    ...kinds.map((kind) => line(kind, before.get(kind), after.get(kind))),
    line('all', totalOf(before), totalOf(after)),
  ].join('\n');
}

/** Adds up the holdings of all kinds. */
export function totalOf(census: Census): Holdings {
  return sum([...census.values()]);
}

const NOTHING: Holdings = [0, 0, 0, 0];

function sum(all: ReadonlyArray<Holdings | undefined>): Holdings {
  const column = (index: 0 | 1 | 2 | 3) => all.reduce((total, each) => total + (each?.[index] ?? 0), 0);
  return [column(0), column(1), column(2), column(3)];
}

function descriptorsOf(pid: number): number {
  try {
    return readdirSync(`/proc/${pid}/fd`).length;
  } catch {
    return 0;
  }
}

/** Returns the name of the program, or of the module that it runs. */
function kindOf(commandLine: string): string {
  // Chromium replaces the zeros between words by spaces.
  const words = commandLine.split(/[\0 ]/);
  const module = words.find((word) => word.endsWith('.ts'));
  if (module) return module.split('/').slice(-2).join('/');
  const type = words.find((word) => word.startsWith('--type='))?.slice('--type='.length);
  // Engines in C are started by the loader of their own C library.
  const library = words.indexOf('--library-path');
  const program = library < 0 ? words[0] : words[library + 2];
  return [basename(program ?? ''), type].filter(Boolean).join(' ');
}
