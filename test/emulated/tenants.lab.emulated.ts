import { closeSync, openSync, readFileSync, readSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { processTree } from '../../functions/engines/worker/linux/proc.ts';
import { parseSettings } from '../../infra/aws/settings.ts';
import { CALLS, type UsedEmulator, useEmulator } from './use-emulator.ts';

const settings = parseSettings({});

/** Calls of each account to each tool. The accounts alternate, so each call could find the environment of the other. */
const ROUNDS = 4;

/** Sends interleaved calls of two accounts to each tool. The URL of each source contains a word that only its account uses. */
async function interleave({ ask, urlOf, newKey }: UsedEmulator, words: readonly [string, string]) {
  const keys = [await newKey(), await newKey()] as const;
  const lanes = CALLS.map(async ({ app, infile, outfile }) => {
    for (let round = 0; round < ROUNDS; round++) {
      for (const account of [0, 1] as const) {
        const query = { app, infile: urlOf(`${words[account]}/${round}/${infile}`), outfile };
        const { status, body } = await ask(query, keys[account]);
        expect(status, body).toBe(200);
      }
    }
  });
  await Promise.all(lanes);
}

describe('two accounts with interleaved calls and tenant isolation off', () => {
  const used = useEmulator({ settings: { ...settings, tenantIsolation: false } });

  it('share environments, but no engine process contains the words of both', async () => {
    const words = ['account-one-4b1f0c', 'account-two-9e27d3'] as const;
    await interleave(used(), words);

    let [one, two] = [0, 0];
    for (const { app } of CALLS) {
      const pool = used().emulator.functions.get(app)!;
      expect(pool.events).toBe(2 * ROUNDS);
      expect(pool.served.size).toBeLessThan(4);
      for (const { root } of pool.sandboxes) {
        const [, , , , ...below] = processTree(root!);
        for (const pid of below) {
          const [first, second] = words.map((word) => holds(pid, word));
          expect([first, second], `process ${pid} of ${app}`).not.toEqual([true, true]);
          one += Number(first);
          two += Number(second);
        }
      }
    }
    // Shows that the check works: some processes contain one word or the other.
    expect(Math.min(one, two)).toBeGreaterThan(0);
  });

  it('see the service up when every engine is', async () => {
    const response = await fetch(`${used().emulator.base}/api/health`);

    const up = Object.fromEntries(CALLS.map(({ app }) => [app, 'up']));
    expect([response.status, await response.json()]).toEqual([200, { status: 'up', tools: up }]);
  });
});

const CHUNK = 4 * 2 ** 20;

/**
 * Whether a process has a text anywhere in its writable memory, as bytes or as UTF-16. One that has ended has none, also while its
 * parent is frozen and does not notice: it is a zombie then, whose list of regions is empty and whose memory cannot be opened.
 */
function holds(pid: number, text: string): boolean {
  try {
    return search(pid, text);
  } catch (thrown) {
    if (regionsOf(pid).length === 0) return false;
    throw thrown;
  }
}

function search(pid: number, text: string): boolean {
  const patterns = [Buffer.from(text), Buffer.from(text, 'utf16le')];
  const regions = regionsOf(pid);
  if (regions.length === 0) return false;
  const memory = openSync(`/proc/${pid}/mem`, 'r');
  const buffer = Buffer.alloc(CHUNK);
  try {
    for (const [from, to, name] of regions) {
      if (name === '[vvar]') continue;
      for (let place = from; place < to; place += CHUNK - text.length * 2) {
        const bytes = read(memory, buffer, Math.min(CHUNK, to - place), place);
        if (patterns.some((pattern) => buffer.subarray(0, bytes).includes(pattern))) return true;
      }
    }
  } finally {
    closeSync(memory);
  }
  return false;
}

/** The readable and writable regions of a process, none if it has ended. See `/proc/<pid>/maps` in proc(5). */
function regionsOf(pid: number): Array<readonly [number, number, string]> {
  let maps = '';
  try {
    maps = readFileSync(`/proc/${pid}/maps`, 'utf8');
  } catch (thrown) {
    if (!['ESRCH', 'ENOENT'].includes((thrown as NodeJS.ErrnoException).code!)) throw thrown;
  }
  return maps.split('\n').flatMap((line) => {
    const match = /^([0-9a-f]+)-([0-9a-f]+) rw\S* \S+ \S+ \d+\s*(.*)$/.exec(line);
    return match
      ? [[Number.parseInt(match[1]!, 16), Number.parseInt(match[2]!, 16), match[3]!] as const]
      : [];
  });
}

function read(file: number, into: Buffer, length: number, place: number): number {
  try {
    return readSync(file, into, 0, length, place);
  } catch {
    // Pages that were never touched, or no longer exist.
    return 0;
  }
}
