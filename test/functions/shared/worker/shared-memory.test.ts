import { mkdir, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { WorkerPool } from '../../../../functions/shared/worker/pool.ts';
import { compile } from '../../../../layers/build/compile.ts';

const ROOT = join(import.meta.dirname, '../../../..');
let temporary: string;

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'shared-memory-'));
  await mkdir(join(temporary, 'compiler'));
  await compile({
    sources: [join(import.meta.dirname, 'shared-memory.c')],
    ownStart: true,
    output: join(temporary, 'worker'),
    scratch: join(temporary, 'compiler'),
    cache: join(ROOT, 'dist/cache/apt'),
    progress: () => undefined,
  });
}, 300_000);

afterAll(() => rm(temporary, { recursive: true, force: true }));

it('counts shared memory that is not resident in the worker', async () => {
  const command = () => ({ command: join(temporary, 'worker'), args: [] });
  const pool = new WorkerPool(command, { temporary, size: 1, requests: 100, memory: 50 });
  const signal = AbortSignal.timeout(20_000);

  const failed = pool.run({}, { tenant: 'one', directory: temporary, signal });

  await expect(failed).rejects.toMatchObject({
    code: 'CONVERSION_FAILED',
    message: 'The conversion exceeded its memory limit.',
  });
  await pool.close();
});
