import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { Worker } from 'node:worker_threads';
import { ConversionError } from '../errors.ts';
import type { WorkerMessage } from './process.ts';

/** Answers one request; `emit` sends an event before the result. */
export type Answer<Request> = (request: Request, emit: (event: unknown) => void) => Promise<unknown>;

const MESSAGES = 3;

/** The engine's side of `WorkerProcess`: says it is ready, answers one request after the other, ends when its parent does. */
export async function serveRequests<Request>(answer: Answer<Request>): Promise<void> {
  endWithParent();
  send({ ready: true });
  for await (const line of createInterface({ input: process.stdin })) {
    send(await attempt(JSON.parse(line) as Request, answer));
  }
  process.exit(0);
}

/** Ends this process, which is broken, before it has begun what it was asked for: another one is asked. */
export function exitUnusable(): never {
  send({ unusable: true });
  process.exit(1);
}

async function attempt<Request>(request: Request, answer: Answer<Request>): Promise<WorkerMessage> {
  try {
    return { result: await answer(request, (event) => send({ event })) };
  } catch (thrown) {
    if (!(thrown instanceof ConversionError)) console.error(thrown);
    return { error: ConversionError.from(thrown).toReport() };
  }
}

function send(message: WorkerMessage): void {
  // A whole line in one write, whatever the pipe takes at a time.
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let sent = 0; sent < line.length; ) sent += writeSync(MESSAGES, line, sent);
}

/** Ends this process soon after its parent was killed: a hang in the main thread would never see the end of stdin. */
function endWithParent(): void {
  const watch = `setInterval(() => process.ppid === ${process.ppid} || process.kill(${process.pid}, 'SIGKILL'), 1000)`;
  new Worker(watch, { eval: true, env: {}, resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref();
}
