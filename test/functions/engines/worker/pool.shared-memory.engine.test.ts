import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WorkerPool } from '../../../../functions/engines/worker/pool.ts';
import { compile } from '../../../../layers/build/compile.ts';

const ROOT = join(import.meta.dirname, '../../../..');
let temporary: string;

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'shared-memory-'));
  await compile({
    sources: [join(import.meta.dirname, 'shared-memory.c')],
    ownStart: true,
    output: join(temporary, 'worker'),
    cache: join(ROOT, 'dist/cache/apt'),
    progress: () => undefined,
  });
}, 300_000);

afterAll(() => rm(temporary, { recursive: true, force: true }));

async function run(operation: string): Promise<unknown> {
  const command = () => ({ command: join(temporary, 'worker'), args: [] });
  const pool = new WorkerPool(command, {
    temporary,
    size: 1,
    requests: 100,
    memory: 50,
    maxDisk: 50 * 2 ** 20,
  });
  const signal = AbortSignal.timeout(120_000);
  try {
    return await pool.run({ operation, arguments: {} }, { account: 'one', directory: temporary, signal });
  } finally {
    await pool.close();
  }
}

it('counts shared memory that is not resident in the worker', async () => {
  await expect(run('memory')).rejects.toMatchObject({
    code: 'CONVERSION_FAILED',
    message: 'The conversion exceeded its memory limit.',
  });
});

it.skipIf(process.getuid?.() !== 0)(
  'counts a whole deleted file of which one page is mapped (needs root)',
  async () => {
    await expect(run('file')).rejects.toMatchObject({
      code: 'CONVERSION_FAILED',
      message: 'The conversion exceeded its disk space limit.',
    });
  },
);
