import { readProcess, readStat } from '../../../functions/engines/worker/linux/proc.ts';
import { descendants } from '../../helpers/descendants.ts';

/** Searches for API keys in places where none are allowed. */
export interface Canary {
  /** Adds a key to search for. */
  watch(apiKey: string): void;
  /** Searches a text or file that left the service, or that an engine can read. */
  inspect(place: string, content: string | Buffer): void;
  /** Searches the environment and arguments of all descendants of some processes, by default of this one. */
  inspectProcesses(roots?: readonly number[]): void;
  /** Adds the findings of another canary. */
  add(other: Pick<Canary, 'inspected' | 'found'>): void;
  /** Number of pieces that were searched. */
  readonly inspected: number;
  readonly found: readonly string[];
}

/** Creates a canary that recognizes the usual encodings of a key: other case, no hyphens, Base64, hexadecimal. */
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
      // The ends of a Base64 text depend on the adjacent bytes.
      const base64 = [0, 1, 2].map((shift) => bytes.subarray(shift).toString('base64').slice(0, 24));
      for (const form of [apiKey, apiKey.replaceAll('-', ''), bytes.toString('hex'), ...base64])
        needles.add(form.toLowerCase());
    },
    inspect,
    inspectProcesses(roots = [process.pid]) {
      for (const pid of descendants(...roots)) {
        const command = readProcess(pid, 'cmdline');
        // Between fork and exec, a child still has the command line and environment of its parent.
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
