import { expect, it, vi } from 'vitest';
import { inThread } from '../../../../../functions/engines/worker/linux/in-thread.ts';

vi.mock('node:worker_threads', () => ({
  Worker: class {
    constructor() {
      throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
    }
  },
}));

it('calls the function here while the system has no free thread', async () => {
  const call = inThread('/script.mjs', { fallback: (number: number) => 2 * number, failed: 0, skipped: 0 });

  call.start();

  await expect(call(1)).resolves.toBe(2);
});
