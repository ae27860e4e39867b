// An engine in a real worker that misbehaves in one way per request, for tests of what is left afterwards.
import { spawn } from 'node:child_process';
import { mkdirSync, openSync, readdirSync, unlinkSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Worker } from 'node:worker_threads';
import { serveRequests } from '../../../../functions/engines/worker/serve.ts';

function startThreads(): void {
  for (let thread = 0; thread < 60; thread += 1) new Worker('setInterval(() => {}, 1000)', { eval: true });
}

const SLEEP = ['-e', 'setInterval(() => {}, 1000)'];
const kept: Buffer[] = [];
/** The directory of the request. */
const folder = () => readdirSync('.').find((name) => name.startsWith('request-'))!;

function sendEndlessly(text: string): never {
  const bytes = Buffer.from(text);
  for (;;) for (let sent = 0; sent < bytes.length; ) sent += writeSync(3, bytes, sent);
}

const faults: Readonly<Record<string, () => unknown>> = {
  none: () => process.pid,
  hang: () => {
    process.on('SIGTERM', () => {});
    for (;;);
  },
  exit: () => process.exit(0),
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
  'keep deleted files': () => {
    for (;;) {
      const descriptor = openSync('deleted', 'w');
      unlinkSync('deleted');
      writeSync(descriptor, Buffer.alloc(2 ** 22, 1));
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 50);
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
    for (let file = 0; file < 3000; file += 1) writeFileSync(join(folder(), String(file)), '');
  },
  'send endless events': () => sendEndlessly('{"event":{}}\n'.repeat(1000)),
  'send large events': () => sendEndlessly(`{"event":[${'0,'.repeat(900_000)}0]}\n`),
  'send a message without end': () => sendEndlessly(' '.repeat(100_000)),
  'name many files': () => ({ files: Array(3000).fill(join(process.cwd(), folder(), 'none')) }),
  'write endlessly to stderr': () => {
    const write = () => process.stderr.write('x'.repeat(65_536), write);
    write();
    return new Promise(() => {});
  },
  'send endless events later': () => {
    setTimeout(() => sendEndlessly('{"event":{}}\n'), 50);
    return process.pid;
  },
  // A process with its own session does not get a signal to the group.
  fork: () => spawn(process.execPath, SLEEP, { detached: true, stdio: 'ignore' }).pid,
  'fork without environment': () =>
    spawn(process.execPath, SLEEP, { detached: true, stdio: 'ignore', env: {} }).pid,
  'dump core': () => process.kill(process.pid, 'SIGSEGV'),
};

await serveRequests<{ fault: string }>(async ({ fault }) => faults[fault]!());
