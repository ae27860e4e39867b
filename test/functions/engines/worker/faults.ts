// An engine in a real worker that misbehaves in one way per request, for tests of what is left afterwards.
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync, writeSync } from 'node:fs';
import { basename, join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { serveRequests } from '../../../../functions/engines/worker/serve.ts';

function startThreads(): void {
  for (let thread = 0; thread < 60; thread += 1) new Worker('setInterval(() => {}, 1000)', { eval: true });
}

const SLEEP = ['-e', 'setInterval(() => {}, 1000)'];
const kept: Buffer[] = [];
/** The directory of the request. */
let folder = '';

function sendOnce(text: string): void {
  const bytes = Buffer.from(text);
  for (let sent = 0; sent < bytes.length; ) sent += writeSync(3, bytes, sent);
}

function sendEndlessly(text: string): never {
  for (;;) sendOnce(text);
}

const faults: Readonly<Record<string, (cancelled: AbortSignal) => unknown>> = {
  none: () => process.pid,
  hang: () => {
    process.on('SIGTERM', () => {});
    for (;;);
  },
  'wait until it is cancelled': (cancelled) =>
    new Promise((_, reject) => cancelled.addEventListener('abort', () => reject(new Error('cancelled')))),
  'start threads when it is cancelled': (cancelled) => {
    cancelled.addEventListener('abort', startThreads);
    return new Promise(() => {});
  },
  stop: () => process.kill(process.pid, 'SIGSTOP'),
  'out of memory': () => {
    for (;;) kept.push(Buffer.alloc(2 ** 26, 1));
  },
  'fill the disk': () => {
    mkdirSync('many');
    // Slowly enough to be stopped before the disk of the test machine is full.
    for (let file = 0; ; file += 1) {
      writeFileSync(`many/${file % 500}`, Buffer.alloc(2 ** 18, 1));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 5);
    }
  },
  'keep deleted files in another process': () => {
    const keep = `const fs = require('fs');
      setInterval(() => {
        const descriptor = fs.openSync('deleted', 'w');
        fs.unlinkSync('deleted');
        fs.writeSync(descriptor, Buffer.alloc(2 ** 22, 1));
      }, 50)`;
    spawn(process.execPath, ['-e', keep], { stdio: 'ignore' });
    return new Promise(() => {});
  },
  'start threads': () => {
    startThreads();
    return new Promise(() => {});
  },
  'start threads later': () => {
    setTimeout(startThreads, 50);
    return process.pid;
  },
  'leave many files': () => {
    for (let file = 0; file < 3000; file += 1) writeFileSync(join(folder, String(file)), '');
  },
  'send a message without end': () => sendEndlessly(' '.repeat(100_000)),
  'name a file that it was not granted': () => {
    writeFileSync(join(folder, 'source'), '');
    sendOnce('{"id":1,"output":{"name":"source"}}\n');
    return new Promise(() => {});
  },
  // A process with its own session does not get a signal to the group.
  fork: () => spawn(process.execPath, SLEEP, { detached: true, stdio: 'ignore' }).pid,
  'fork without environment': () =>
    spawn(process.execPath, SLEEP, { detached: true, stdio: 'ignore', env: {} }).pid,
  'dump core': () => process.kill(process.pid, 'SIGSEGV'),
};

await serveRequests<{ fault: { fault: string } }>({
  fault: async ({ fault }, _answers, cancelled) => {
    folder = basename(process.cwd());
    process.chdir(process.env.HOME!);
    return faults[fault]!(cancelled);
  },
});
