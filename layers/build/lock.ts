import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type Server } from 'node:net';
import { setTimeout } from 'node:timers/promises';

/** Milliseconds between two attempts to get a lock. */
const INTERVAL = 200;

/**
 * Runs `work` while this process holds the lock of this name. The lock is a socket in Linux's abstract namespace, which the kernel
 * gives to one process at a time and releases when that process ends, however it ends.
 */
export async function withLock<Result>(name: string, work: () => Promise<Result>): Promise<Result> {
  const path = `\0docmill-${createHash('sha256').update(name).digest('hex')}`;
  let lock = await acquire(path);
  while (!lock) {
    await setTimeout(INTERVAL);
    lock = await acquire(path);
  }
  try {
    return await work();
  } finally {
    lock.close();
    await once(lock, 'close');
  }
}

async function acquire(path: string): Promise<Server | undefined> {
  const server = createServer((connection) => connection.destroy());
  try {
    await once(server.listen(path), 'listening');
    return server;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return undefined;
    throw error;
  }
}
