import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ConversionError } from '../../shared/errors.ts';
import type { WorkerMessage } from './process.ts';

/** Handles one request and returns its result. `emit` sends an event before the result. */
export type Handle<Request> = (request: Request, emit: (event: unknown) => void) => Promise<unknown>;

const MESSAGES = 3;
/** Milliseconds in which the parent reads the last message. */
const EXIT_TIME = 1000;

/** The child's side of `WorkerProcess`: handles one request at a time, and exits when its parent does. */
export async function serveRequests<Request>(
  handle: Handle<Request>,
  { unsandboxed }: { readonly unsandboxed?: string | undefined } = {},
): Promise<void> {
  endWithParent();
  send({ ready: true, ...(unsandboxed !== undefined && { unsandboxed }) });
  for await (const line of createInterface({ input: process.stdin })) {
    send(await attempt(JSON.parse(line) as Request, handle));
  }
  endGroup();
}

/** Reports why the engine does not start, for the operator, and exits. */
export async function exitUnstarted(reason: string): Promise<never> {
  send({ unstarted: reason });
  // The parent kills this process when it has read the message. If the process exited first, the message could be lost.
  await setTimeout(EXIT_TIME);
  process.exit(1);
}

/** Exits before the request starts, because this process is unusable. The pool uses another one. */
export function exitUnusable(): never {
  send({ unusable: true });
  process.exit(1);
}

async function attempt<Request>(request: Request, handle: Handle<Request>): Promise<WorkerMessage> {
  try {
    const result = await handle(request, (event) => send({ event }));
    // JSON drops `undefined`, and a message without a result would never end the request.
    return { result: result ?? null };
  } catch (thrown) {
    if (!(thrown instanceof ConversionError)) console.error(thrown);
    return { error: ConversionError.from(thrown).toReport() };
  }
}

function send(message: WorkerMessage): void {
  // The pipe may accept only part of the line at a time.
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let sent = 0; sent < line.length; ) sent += writeSync(MESSAGES, line, sent);
}

/**
 * Kills this process and what it started soon after its parent was killed, even if the main thread hangs and never sees the
 * end of stdin.
 */
function endWithParent(): void {
  const end = `try { process.kill(-${process.pid}, 'SIGKILL') } catch { process.kill(${process.pid}, 'SIGKILL') }`;
  const watch = `setInterval(() => { if (process.ppid !== ${process.ppid}) ${end} }, 1000)`;
  new Worker(watch, { eval: true, env: {}, resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref();
}

/** Kills the process group: a browser that an attacker controls can ignore the end of its parent. */
function endGroup(): never {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    // This process is in a sandbox, which has no other processes, or does not lead a group.
  }
  process.exit(0);
}
