import { setTimeout } from 'node:timers/promises';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { memoryOf } from '../../lambda-emulator/sandbox/process-tree.ts';
import type { AttackedService } from '../deployment/deployment.ts';

/** Memory in use when nothing is running, MiB. */
export interface MemoryUse {
  /** Heap of this process, which is the service on one machine, after garbage collection. */
  readonly heap: number;
  /** By process: a long-lived process with its descendants, without mapped files. */
  readonly residents: ReadonlyMap<number, { readonly tool: string; readonly memory: number }>;
}

const LOOKS = 5;
const PAUSE = 300;

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Measures the memory of an idle service: the median of several samples. */
export async function measureMemory(service: AttackedService): Promise<MemoryUse> {
  await service.rest();
  const looks: MemoryUse[] = [];
  for (let look = 0; look < LOOKS; look += 1) {
    await setTimeout(PAUSE);
    const heap = await (service.heap ?? ownHeap)();
    const residents = service.residents().map(({ pid, tool, alone }) => {
      return [pid, { tool, memory: memoryOf(pid, alone && 'alone') }] as const;
    });
    looks.push({ heap, residents: new Map(residents) });
  }
  const last = looks.at(-1)!.residents;
  const residents = [...last].map(([pid, { tool }]) => {
    const memory = median(looks.flatMap((look) => look.residents.get(pid)?.memory ?? []));
    return [pid, { tool, memory }] as const;
  });
  return { heap: median(looks.map(({ heap }) => heap)), residents: new Map(residents) };
}

/** MiB by which each tool's long-lived processes grew between two measurements. Only processes in both of them count. */
export function growth(
  before: MemoryUse,
  after: MemoryUse,
): Map<string, { grown: number; residents: number }> {
  const tools = new Map<string, { grown: number; residents: number }>();
  for (const [pid, { tool, memory }] of after.residents) {
    const earlier = before.residents.get(pid);
    if (!earlier) continue;
    const { grown, residents } = tools.get(tool) ?? { grown: 0, residents: 0 };
    tools.set(tool, { grown: grown + memory - earlier.memory, residents: residents + 1 });
  }
  return tools;
}

function median(values: readonly number[]): number {
  return values.toSorted((a, b) => a - b)[Math.floor(values.length / 2)] ?? 0;
}

async function ownHeap(): Promise<number> {
  collectGarbage();
  const { heapUsed, external } = process.memoryUsage();
  return (heapUsed + external) / 2 ** 20;
}
