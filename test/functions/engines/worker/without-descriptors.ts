// Starts a worker while this process has no free file descriptor, and prints how that ended.
import { closeSync, openSync } from 'node:fs';
import { WorkerProcess } from '../../../../functions/engines/worker/process.ts';

const [temporary] = process.argv.slice(2);
const files: number[] = [];
try {
  for (;;) files.push(openSync('/dev/null', 'r'));
} catch {
  // None is left.
}
const worker = new WorkerProcess(() => ({ command: process.execPath, args: [] }), { temporary: temporary! });
const ended = await worker.ready.catch((thrown: Error) => `${thrown.constructor.name}: ${thrown.message}`);
for (const file of files) closeSync(file);
process.stdout.write(`${ended}`);
