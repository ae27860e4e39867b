// A worker that misbehaves on request. pool.test.ts runs it with the same protocol as real workers.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync, renameSync, writeFileSync, writeSync } from 'node:fs';
import { createInterface } from 'node:readline';

let id = 0;
const send = (message) => writeSync(3, `${JSON.stringify({ id, ...message })}\n`);
const kept = [];

const tasks = {
  echo: ({ value, last }) => send({ result: { value, pid: process.pid }, last }),
  environment: () => send({ result: { ...process.env, cwd: process.cwd() } }),
  fail: ({ code }) => send({ error: { code, message: 'The document is damaged.' } }),
  'say why and fail': ({ says }) => {
    writeSync(2, says);
    send({ error: { code: 'CORRUPT_SOURCE', message: 'The document is damaged.' } });
  },
  'fail with values': ({ code }) => send({ error: { code, values: { sheet: 3 } } }),
  'answer another request': () => {
    writeSync(3, `${JSON.stringify({ id: id - 1, result: 'old' })}\n`);
    send({ result: 'new' });
  },
  pages: ({ count }) => {
    for (let page = 1; page <= count; page++) send({ heartbeat: page });
    send({ result: count });
  },
  crash: () => process.exit(3),
  'crash once': ({ mark }) => {
    if (existsSync(mark)) return send({ result: 'second time' });
    writeFileSync(mark, '');
    process.kill(process.pid, 'SIGSEGV');
  },
  'crash after an event': () => {
    send({ heartbeat: 0 });
    process.abort();
  },
  unusable: ({ mark, times }) => {
    const found = existsSync(mark) ? readFileSync(mark, 'utf8').length : 0;
    if (found === times) return send({ result: 'fit' });
    writeFileSync(mark, '.'.repeat(found + 1));
    send({ unusable: true });
    process.exit(1);
  },
  hang: ({ mark }) => {
    process.on('SIGTERM', () => {});
    const child = spawn(
      process.execPath,
      [
        '-e',
        "process.on('SIGTERM', () => {}); setInterval(() => require('fs').writeFileSync('alive', String(Date.now())), 5)",
      ],
      { stdio: 'ignore' },
    );
    if (mark) {
      // Renamed into place, so that nobody reads half of it.
      writeFileSync(`${mark}.part`, JSON.stringify([process.pid, child.pid]));
      renameSync(`${mark}.part`, mark);
    }
    for (;;);
  },
  babble: () => writeSync(3, 'this is no JSON\n'),
  'no line end': () => {
    for (let sent = 0; sent < 10_000_000; ) sent += writeSync(3, Buffer.alloc(65_536, 'a'));
  },
  noise: () => {
    process.stderr.write('x'.repeat(1_000_000));
    process.stdout.write('x'.repeat(1_000_000));
    send({ result: 'heard' });
  },
  grow: ({ mebibytes }) => {
    kept.push(Buffer.alloc(mebibytes * 2 ** 20, 1));
    send({ result: process.pid });
  },
  wait: ({ milliseconds }) => setTimeout(() => send({ result: process.pid }), milliseconds),
};

if (process.argv[2] === 'broken') process.exit(9);
if (process.argv[2] === 'unstarted') {
  send({ unstarted: 'The machine lacks something.' });
  process.exit(1);
}
send({ ready: true });
for await (const line of createInterface({ input: process.stdin })) {
  const request = JSON.parse(line);
  id = request.id;
  tasks[request.operation](request.arguments);
}
