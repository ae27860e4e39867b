import { processTree, readProcess, readStat } from '../../../functions/shared/worker/linux/proc.ts';

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
        const command = readProcess(pid, 'cmdline');
        // Between fork and exec a child is still its parent, environment and all.
        if (command === readProcess(readStat(pid).parent, 'cmdline')) continue;
        inspect('arguments of an engine', command);
        inspect(`environment of ${command.split('\0')[0]}`, readProcess(pid, 'environ'));
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

/** Returns all descendants of some processes. */
export function descendants(...roots: readonly number[]): number[] {
  return processTree(...roots).slice(roots.length);
}
