import { mkdtemp, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Inputs } from './inputs.ts';
import { alternate, type Run } from './measure.ts';
import type { Peers } from './peers.ts';
import type { Call, Service } from './service.ts';

/** One line of the table: what was measured, the peer, and the target. */
export interface Row {
  readonly work: string;
  /** The peer that is compared. A limit has none. */
  readonly peer: string;
  readonly unit: string;
  readonly ours: number;
  readonly theirs?: number;
  /** Our value divided by the peer's, or our value if there is no peer. */
  readonly value: number;
  readonly target?: number;
  /** Whether the target is a minimum instead of a maximum. */
  readonly atLeast?: boolean;
  readonly note?: string;
}

/** The environment of every measurement. */
export interface Bench {
  readonly service: Service;
  readonly peers: Peers;
  readonly inputs: Inputs;
  /** Directory for the peers' output. */
  readonly directory: string;
  readonly urlOf: (path: string) => string;
  readonly quick: boolean;
  /** Returns whether a row is to be measured, by its name. */
  wants(work: string): boolean;
  say(text: string): void;
}

interface Side<Item> {
  readonly name: string;
  readonly target?: number;
  readonly run: Run<Item>;
}

/** Compares a call of the service with peers, on the items that all of them can convert. */
export async function compare<Item>(
  bench: Bench,
  work: string,
  items: readonly Item[],
  {
    ours,
    peers,
    seconds,
    probe = true,
  }: {
    /** The call, or a function that makes several calls and returns their milliseconds. */
    ours: ((item: Item) => Call) | ((item: Item) => Promise<number>);
    peers: ReadonlyArray<Side<Item>>;
    seconds: number;
    /** Whether to try every item first and leave out those that one side rejects. */
    probe?: boolean;
  },
): Promise<Row[]> {
  if (!bench.wants(work) || peers.length === 0) return [];
  bench.say(work);
  const convert = async (item: Item) => {
    const call = await ours(item);
    return typeof call === 'number' ? call : bench.service.convert(call);
  };
  const sides = Object.fromEntries([
    ['ours', convert],
    ...peers.map(({ name, run }) => [name, run] as const),
  ]);
  const usable = probe ? await agreed(items, Object.values(sides)) : items;
  if (usable.length === 0) return [];
  const timing = await alternate(usable, sides, { seconds, warmUp: !probe });
  const own = timing.milliseconds.ours!;
  const skipped = items.length - usable.length;
  const counts = `${count(timing.items, 'file')}, ${count(timing.passes, 'pass', 'passes')}`;
  const note = skipped > 0 ? `${counts}, ${skipped} that one side refuses left out` : counts;
  return peers.map(({ name, target }) => ({
    work,
    peer: name,
    unit: 'ms',
    ours: own,
    theirs: timing.milliseconds[name]!,
    note,
    value: own / timing.milliseconds[name]!,
    ...(target === undefined ? {} : { target }),
  }));
}

/** Runs work in an empty directory that is deleted afterwards. */
export async function inDirectory<Value>(
  parent: string,
  work: (directory: string) => Promise<Value>,
): Promise<Value> {
  const directory = await mkdtemp(join(parent, 'peer-'));
  try {
    return await work(directory);
  } finally {
    await rm(directory, { recursive: true, force: true, maxRetries: 5 });
  }
}

async function agreed<Item>(items: readonly Item[], runs: ReadonlyArray<Run<Item>>): Promise<Item[]> {
  const usable: Item[] = [];
  for (const item of items) {
    const results: boolean[] = [];
    for (const run of runs)
      results.push(
        await run(item).then(
          () => true,
          () => false,
        ),
      );
    if (results.every(Boolean)) usable.push(item);
  }
  return usable;
}

/** Formats a number with its noun. */
export function count(number: number, one: string, many = `${one}s`): string {
  return `${number} ${number === 1 ? one : many}`;
}
