import { writeSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { setTimeout } from 'node:timers/promises';
import { Worker } from 'node:worker_threads';
import { ConversionError } from '../../shared/errors.ts';
import { describe } from '../../shared/log.ts';
import {
  type Answer,
  type Cancel,
  type ErrorAnswer,
  type FinishedFile,
  MAX_ANSWER,
  type Request,
  type Start,
} from '../protocol.ts';

/** Sends answers before the result. */
interface Answers {
  heartbeat(done: number): void;
  output(file: FinishedFile): void;
}

/**
 * A worker's operations: each gets the arguments of a request and returns its result. Files are named relative to the working
 * directory. The signal aborts when the request is cancelled.
 */
type Handlers<Operations> = {
  readonly [Name in keyof Operations]: (
    args: Operations[Name],
    answers: Answers,
    signal: AbortSignal,
  ) => Promise<unknown>;
};

/** A request that is handled beside others, and therefore cannot have its own working directory. */
interface ConcurrentRequest {
  /** Folder of the request's files. */
  readonly directory: string;
  /** Aborts when the request is cancelled. */
  readonly signal: AbortSignal;
}

/** Operations of a worker that handles several requests at a time. */
type ConcurrentHandlers<Operations> = {
  readonly [Name in keyof Operations]: (
    args: Operations[Name],
    request: ConcurrentRequest,
  ) => Promise<unknown>;
};

const ANSWERS = 3;
/** Timeout for the parent to read the last message, in milliseconds. */
const EXIT_TIME = 1000;
const TOO_LONG: ErrorAnswer = {
  code: 'SOURCE_TOO_LARGE',
  message: `The source has too many parts. What an engine reports about them is limited to ${MAX_ANSWER / 1000} kB.`,
};
/** The request that is being handled. */
let currentId = 0;
let endsWithParent = false;

/** Serves requests one at a time, as the child of a `WorkerProcess`. Exits when its parent does. */
export async function serveRequests<Operations extends object>(
  handlers: Handlers<Operations>,
  { unsandboxed }: { readonly unsandboxed?: string | undefined } = {},
): Promise<void> {
  endWithParent();
  send({ ready: true, ...(unsandboxed !== undefined && { unsandboxed }) });
  await receive((request, signal) => {
    currentId = request.id;
    process.chdir(request.directory);
    const handle = (handlers as Handlers<Record<string, object>>)[request.operation]!;
    return attempt(request, (answers) => handle(request.arguments, answers, signal));
  });
}

/**
 * Handles several requests at the same time, for work that mostly waits. Exits at the end of its input. No request
 * delays that, because none uses the main thread for long.
 */
export async function serveConcurrently<Operations extends object>(
  handlers: ConcurrentHandlers<Operations>,
): Promise<void> {
  send({ ready: true });
  await receive((request, signal) => {
    const { operation, arguments: args, directory } = request;
    const handle = (handlers as ConcurrentHandlers<Record<string, object>>)[operation]!;
    return attempt(request, () => handle(args, { directory, signal }));
  });
}

/** Receives requests, and aborts cancelled ones, until the end of the input. Then this process exits. */
async function receive(handle: (request: Request, signal: AbortSignal) => Promise<void>): Promise<never> {
  const running = new Map<number, AbortController>();
  for await (const line of createInterface({ input: process.stdin })) {
    const message = JSON.parse(line) as Request | Cancel;
    if ('cancel' in message) {
      running.get(message.cancel)?.abort();
      continue;
    }
    const { id } = message;
    const stop = new AbortController();
    running.set(id, stop);
    handle(message, stop.signal).finally(() => running.delete(id));
  }
  return endGroup();
}

/** Reports why the engine does not start, for the operator, and exits. */
export async function exitUnstarted(reason: string): Promise<never> {
  send({ unstarted: reason });
  // The parent kills this process when it has read the message, which could be lost if the process exited first.
  await setTimeout(EXIT_TIME);
  process.exit(1);
}

/** Exits before the request starts, because this process is unusable. The pool then uses another one. */
export function exitUnusable(): never {
  send({ id: currentId, unusable: true });
  process.exit(1);
}

async function attempt(request: Request, handle: (answers: Answers) => Promise<unknown>): Promise<void> {
  const answers: Answers = {
    heartbeat: (heartbeat) => send({ id: request.id, heartbeat }),
    output: (output) => send({ id: request.id, output }),
  };
  try {
    const result = await handle(answers);
    // JSON drops `undefined`, and an answer without a result would never end the request.
    send({ id: request.id, result: result ?? null });
  } catch (thrown) {
    if (!(thrown instanceof ConversionError)) console.error(thrown);
    send({ id: request.id, error: errorAnswer(thrown) });
  }
}

function errorAnswer(thrown: unknown): ErrorAnswer {
  const { code, message, details, cause } = ConversionError.from(thrown);
  return {
    code,
    message,
    ...(details && { values: details }),
    ...(cause !== undefined && { cause: describe(cause) }),
  };
}

function send(message: Answer | Start): void {
  let line = Buffer.from(`${JSON.stringify(message)}\n`);
  if (line.length > MAX_ANSWER && 'id' in message)
    line = Buffer.from(`${JSON.stringify({ id: message.id, error: TOO_LONG })}\n`);
  // The pipe may accept only part of the line at a time.
  for (let sent = 0; sent < line.length; ) sent += writeSync(ANSWERS, line, sent);
}

/**
 * Kills this process and its descendants soon after its parent was killed, even if the main thread hangs and never
 * sees the end of stdin. `serveRequests` calls it. A worker that starts an engine before that, which may hang, calls
 * it first.
 */
export function endWithParent(): void {
  if (endsWithParent) return;
  endsWithParent = true;
  const end = `try { process.kill(-${process.pid}, 'SIGKILL') } catch { process.kill(${process.pid}, 'SIGKILL') }`;
  const watch = `setInterval(() => { if (process.ppid !== ${process.ppid}) ${end} }, 1000)`;
  new Worker(watch, { eval: true, env: {}, resourceLimits: { maxOldGenerationSizeMb: 8 } }).unref();
}

/** Kills the process group, because a browser that an attacker controls can ignore that its parent has exited. */
function endGroup(): never {
  try {
    process.kill(-process.pid, 'SIGKILL');
  } catch {
    // This process is in a sandbox, which has no other processes, or it does not lead a group.
  }
  process.exit(0);
}
