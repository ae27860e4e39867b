import { describe, expect, it } from 'vitest';
import { processTree } from '../../functions/engines/worker/linux/proc.ts';
import { parseSettings } from '../../infra/aws/settings.ts';
import { holds } from './process-memory.ts';
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
