import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ConversionError } from '../../shared/errors.ts';
import type { Answer, ErrorAnswer, FinishedFile, Request, Start } from '../protocol.ts';

/** What a worker sends before the result. */
export interface Answers {
  heartbeat(done: number): void;
  output(file: FinishedFile): void;
}

/** A worker's operations: each gets the arguments of a request and returns its result. Files are named relative to the working directory. */
export type Handlers<Operations> = {
  readonly [Name in keyof Operations]: (given: Operations[Name], answers: Answers) => Promise<unknown>;
};

const ANSWERS = 3;
/** Milliseconds in which the parent reads the last message. */
const EXIT_TIME = 1000;
/** The request that is being handled. */
let id = 0;

/** The child's side of `WorkerProcess`: handles one request at a time, and exits when its parent does. */
export async function serveRequests<Operations extends object>(
  handlers: Handlers<Operations>,
  { unsandboxed }: { readonly unsandboxed?: string | undefined } = {},
): Promise<void> {
  endWithParent();
  send({ ready: true, ...(unsandboxed !== undefined && { unsandboxed }) });
  for await (const line of createInterface({ input: process.stdin })) {
    const request = JSON.parse(line) as Request;
    id = request.id;
    process.chdir(request.directory);
    await attempt(request, handlers as Handlers<Record<string, object>>);
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
  send({ id, unusable: true });
  process.exit(1);
}

async function attempt(
  request: Request,
  handlers: Handlers<Readonly<Record<string, object>>>,
): Promise<void> {
  const answers: Answers = {
    heartbeat: (heartbeat) => send({ id: request.id, heartbeat }),
    output: (output) => send({ id: request.id, output }),
  };
  try {
    const result = await handlers[request.operation]!(request.arguments, answers);
    // JSON drops `undefined`, and an answer without a result would never end the request.
    send({ id: request.id, result: result ?? null });
  } catch (thrown) {
    if (!(thrown instanceof ConversionError)) console.error(thrown);
    send({ id: request.id, error: describe(thrown) });
  }
}

function describe(thrown: unknown): ErrorAnswer {
  const { code, message, values } = ConversionError.from(thrown);
  return { code, message, ...(values && { values }) };
}

function send(message: Answer | Start): void {
  // The pipe may accept only part of the line at a time.
  const line = Buffer.from(`${JSON.stringify(message)}\n`);
  for (let sent = 0; sent < line.length; ) sent += writeSync(ANSWERS, line, sent);
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
