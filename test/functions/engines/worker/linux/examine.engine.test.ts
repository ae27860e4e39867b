import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, it } from 'vitest';
import { examine } from '../../../../../functions/engines/worker/linux/examine.ts';

const PIPE_BYTES = 65_536;

it('counts what the kernel may keep in pipes', async () => {
  const child = spawn('sh', ['-c', 'sleep 60 | sleep 60 | sleep 60 & echo; wait'], {
    detached: true,
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(child.stdout, 'data');

  // The shell prints before it has started the others. Standard output is a socket or a pipe, depending on the version of Node.
  const memory = () => examine({ group: child.pid!, maxThreads: 100, isThorough: true }).unlinked.memory;
  await expect.poll(memory).toBeGreaterThanOrEqual(2 * PIPE_BYTES);
  process.kill(-child.pid!, 'SIGKILL');
});
