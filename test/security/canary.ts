import { readdirSync, readFileSync } from 'node:fs';
import { memoryOf } from '../../functions/shared/worker/memory.ts';

/** Looks for API keys where none may be. */
export interface Canary {
  /** Adds a key to look for. */
  watch(apiKey: string): void;
  /** Looks through a text or file that left the service, or that an engine can see. */
  inspect(place: string, content: string | Buffer): void;
  /** Looks through the environment and the arguments of every process below some; below ours if nothing else is said. */
  inspectProcesses(roots?: readonly number[]): void;
  /** Takes over what another canary saw. */
  add(other: Pick<Canary, 'inspected' | 'found'>): void;
  /** How many pieces were looked through. */
  readonly inspected: number;
  readonly found: readonly string[];
}

/** Makes a canary that knows the usual disguises of a key: other case, no hyphens, Base64, hexadecimal. */
export function createCanary(): Canary {
  const needles = new Set<string>();
  const found: string[] = [];
  let inspected = 0;

  const inspect = (place: string, content: string | Buffer) => {
    inspected += 1;
    const text = (typeof content === 'string' ? content : content.toString('latin1')).toLowerCase();
    if ([...needles].some((needle) => text.includes(needle))) found.push(place);
  };

  return {
    watch(apiKey) {
      const bytes = Buffer.from(apiKey);
      // The ends of a Base64 text depend on what stands beside it.
      const base64 = [0, 1, 2].map((shift) => bytes.subarray(shift).toString('base64').slice(0, 24));
      for (const form of [apiKey, apiKey.replaceAll('-', ''), bytes.toString('hex'), ...base64])
        needles.add(form.toLowerCase());
    },
    inspect,
    inspectProcesses(roots = [process.pid]) {
      for (const pid of descendants(...roots)) {
        const command = commandOf(pid);
        // Between fork and exec a child is still its parent, environment and all.
        if (command === commandOf(parentOf(String(pid)))) continue;
        inspect('arguments of an engine', command);
        inspect(`environment of ${command.split('\0')[0]}`, readOrEmpty(`/proc/${pid}/environ`));
      }
    },
    add(other) {
      inspected += other.inspected;
      found.push(...other.found);
    },
    get inspected() {
      return inspected;
    },
    found,
  };
}

/** Answers the processes below some, those themselves excluded. */
export function descendants(...roots: readonly number[]): number[] {
  const parents = new Map(
    readdirSync('/proc')
      .filter((name) => /^\d+$/.test(name))
      .map((name) => [Number(name), parentOf(name)]),
  );
  const below = (pid: number): boolean => {
    const parent = parents.get(pid);
    return parent !== undefined && parent > 0 && (roots.includes(parent) || below(parent));
  };
  return [...parents.keys()].filter(below);
}

/** Answers the resident MiB of a process and all below it, or of those below alone. */
export function totalMemory(root: number, which: 'all' | 'below' = 'all'): number {
  const processes = which === 'all' ? [root, ...descendants(root)] : descendants(root);
  return processes.reduce((sum, pid) => sum + memoryOf(pid), 0);
}

/** Answers the program of a process with its arguments, a zero byte behind each; nothing once it has ended. */
export function commandOf(pid: number): string {
  return readOrEmpty(`/proc/${pid}/cmdline`);
}

/** Answers the process that started one, or 0 once it has ended. */
export function parentOf(pid: string): number {
  // The name of the program, in parentheses, may hold anything.
  const [, parent = '0'] = readOrEmpty(`/proc/${pid}/stat`)
    .replace(/^.*\) /s, '')
    .split(' ');
  return Number(parent);
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'latin1');
  } catch {
    // The process has ended.
    return '';
  }
}
