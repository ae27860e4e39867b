import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { inThread } from '../../../../../functions/engines/worker/linux/in-thread.ts';

const directory = mkdtempSync(join(tmpdir(), 'in-thread-test-'));
afterAll(() => rmSync(directory, { recursive: true }));

const fallback = (number: number) => 2 * number;
const substitutes = { fallback, failed: Number.POSITIVE_INFINITY, skipped: 0 };

it('calls the function here if the thread cannot be started, each time', async () => {
  const call = inThread('/no/such/script.mjs', substitutes);

  expect(await Promise.all([call(1), call(2)])).toEqual([2, 4]);
  expect(await call(3)).toBe(6);
});

describe('when a request ends the thread', () => {
  const script = join(directory, 'thread.mjs');
  writeFileSync(
    script,
    `import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ id, request }) => {
      if (request === 13) process.exit();
      parentPort.postMessage({ id, result: 3 * request });
    });`,
  );

  it('counts that request as failed, skips those behind it, and starts another thread', async () => {
    const call = inThread<number, number>(script, substitutes);
    expect(await call(1)).toBe(3);

    expect(await Promise.all([call(2), call(13), call(4)])).toEqual([6, Number.POSITIVE_INFINITY, 0]);
    expect(await call(5)).toBe(15);
  });
});
