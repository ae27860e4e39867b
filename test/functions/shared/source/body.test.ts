import { execFileSync } from 'node:child_process';
import { closeSync, constants, open, openSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, stat } from 'node:fs/promises';
import { get, type IncomingMessage } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { expect, it, onTestFinished, vi } from 'vitest';
import { saveBody } from '../../../../functions/shared/source/body.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';

/** Number of bytes to write synchronously. */
const QUICK = 2 ** 20;
const MORE_THAN_QUICK = 1_200_000;
/** More than libuv's thread pool has threads. */
const BLOCKED = 16;

it('does not write to another file when it is cancelled while the disk is busy', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'body-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const server = await serveHttp((_request, response) => void response.write('a'.repeat(MORE_THAN_QUICK)));
  onTestFinished(() => server.close());
  const response = await new Promise<IncomingMessage>((resolve) => get(server.origin, resolve));
  const unblock = blockThreadPool(join(directory, 'pipe'));
  const controller = new AbortController();
  const { signal } = controller;
  const saved = saveBody(response, {
    path: join(directory, 'source'),
    limit: 10_000_000,
    idle: 60_000,
    signal,
  });
  await untilDiskIsBusy(response);

  controller.abort();
  await expect(saved).rejects.toThrow();
  // Files and sockets that were closed leave several numbers, of which new files get the lowest.
  const others = ['a', 'b', 'c', 'd'].map((name) => join(directory, name));
  const files = others.map((path) => openSync(path, 'w'));
  await unblock();

  expect(others.map((path) => readFileSync(path).length)).toEqual([0, 0, 0, 0]);
  for (const file of files) closeSync(file);
});

it('does not blame the source server for a slow disk', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'body-'));
  onTestFinished(() => rm(directory, { recursive: true }));
  const body = 'a'.repeat(2 * MORE_THAN_QUICK);
  const server = await serveHttp((_request, response) => void response.end(body));
  onTestFinished(() => server.close());
  const response = await new Promise<IncomingMessage>((resolve) => get(server.origin, resolve));
  const unblock = blockThreadPool(join(directory, 'pipe'));
  vi.useFakeTimers({ toFake: ['setTimeout'] });
  onTestFinished(() => void vi.useRealTimers());
  const idle = 5000;
  const options = {
    path: join(directory, 'source'),
    limit: 10_000_000,
    idle,
    signal: AbortSignal.timeout(60_000),
  };
  const saved = saveBody(response, options);
  saved.catch(() => {});

  await untilDiskIsBusy(response);
  await vi.advanceTimersByTimeAsync(4 * idle);
  await unblock();

  expect(await saved).toBe(body.length);
});

/** Waits until a body is read no further, because a write has to wait, before or after the last byte. */
async function untilDiskIsBusy({ socket }: IncomingMessage): Promise<void> {
  for (let read = -1; read < QUICK || read !== socket.bytesRead; await setTimeout(200))
    read = socket.bytesRead;
}

/** Keeps all threads busy that do asynchronous file operations, as a stalled disk would. */
function blockThreadPool(pipe: string): () => Promise<void> {
  execFileSync('mkfifo', [pipe]);
  // Opening a pipe waits for a writer.
  const opened = Array.from(
    { length: BLOCKED },
    () =>
      new Promise<void>((resolve) =>
        open(pipe, 'r', (_error, file) => {
          closeSync(file);
          resolve();
        }),
      ),
  );
  return async () => {
    const writer = openSync(pipe, constants.O_RDWR);
    await Promise.all(opened);
    await stat(pipe);
    await setTimeout(100);
    closeSync(writer);
  };
}
