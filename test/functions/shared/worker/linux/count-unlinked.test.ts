import { expect, it, vi } from 'vitest';
import { countUnlinked } from '../../../../../functions/shared/worker/linux/count-unlinked.ts';

vi.mock('node:worker_threads', () => ({
  Worker: class {
    constructor() {
      throw Object.assign(new Error('EAGAIN'), { code: 'ERR_WORKER_INIT_FAILED' });
    }
  },
}));

it('counts nothing while the system has no free thread', async () => {
  await expect(countUnlinked([process.pid])).resolves.toEqual({ disk: 0, memory: 0 });
});
