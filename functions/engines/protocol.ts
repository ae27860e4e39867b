import type { DetailsOf, ErrorCode } from '../shared/errors.ts';

/**
 * The protocol between the service and its engines. A worker reads requests from its standard input and writes
 * answers to file descriptor 3, one JSON object per line. It handles one request at a time, unless it uses
 * `serveConcurrently`. The C side is in `layers/build/protocol/message.h`, the TypeScript side in `worker/serve.ts`.
 */

/**
 * One task for an engine. All file names, including those in the arguments, are relative to the conversion's
 * directory.
 */
export interface Work {
  readonly operation: string;
  readonly arguments: object;
  /** Files that the worker may read. It cannot see any others. */
  readonly inputs?: readonly string[];
  /** Files that the worker may create, or `.` for any files directly in the directory. Others are not collected. */
  readonly outputs?: '.' | readonly string[];
}

/** The work as it is sent to a worker. */
export interface Request extends Work {
  /** Request ID, repeated in each answer. */
  readonly id: number;
  /** Folder with the inputs, under the same names, and for the outputs. The worker makes it its working directory. */
  readonly directory: string;
}

/** Asks a worker that can cancel requests to end one early. It answers that request as usual. */
export interface Cancel {
  readonly cancel: number;
}

/** A finished file, with facts about it such as its page. */
export interface FinishedFile {
  readonly name: string;
  readonly [fact: string]: unknown;
}

/** An error as a code and details, such as those for its message. */
export interface ErrorAnswer {
  readonly code: string;
  readonly values?: object;
  /** Sent only by workers in TypeScript. For the others, the service adds the message; see `ErrorMessages`. */
  readonly message?: string;
  /** Only for the log. */
  readonly cause?: string;
}

/** The worker is making progress. */
interface Heartbeat {
  /** Number of finished parts, such as pages. */
  readonly heartbeat: number;
}

/** One file is finished. */
interface Output {
  readonly output: FinishedFile;
}

/** Ends the request. */
interface Result {
  readonly result: unknown;
  /** Whether the worker must be replaced. */
  readonly last?: boolean;
}

/** Ends the request. The worker stays usable. */
interface Failure {
  readonly error: ErrorAnswer;
}

/** Ends the request before it started, because the worker is unusable. The worker exits too. */
interface Unusable {
  readonly unusable: true;
}

export type Answer = { readonly id: number } & (Heartbeat | Output | Result | Failure | Unusable);

/**
 * Maximum bytes of an answer. The service reads it in its main thread, so what may be longer is a file. A longer one becomes
 * an error, also in C.
 */
export const MAX_ANSWER = 400_000;

/** First message of a worker: it is ready, or why its engine does not start. */
export type Start = { readonly ready: true; readonly unsandboxed?: string } | { readonly unstarted: string };

/** Messages of an engine's errors, by code. */
export type ErrorMessages = { readonly [Code in ErrorCode]?: (details: DetailsOf<Code>) => string };

/** Callbacks for the progress of a request. */
export interface Progress {
  /** Called with the number of finished parts, which may be the same as before. */
  readonly onHeartbeat?: ((done: number) => void) | undefined;
  /** Called with each finished file, which is in the conversion's directory by then. */
  readonly onOutput?: ((file: FinishedFile) => void) | undefined;
}
