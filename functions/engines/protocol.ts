/**
 * The protocol between the service and its engines. A worker reads requests from its standard input and writes answers to its
 * file descriptor 3, one JSON object per line, and handles one request at a time, unless it is one of `serveConcurrently`.
 * `layers/build/host/message.h` is its side in C, and `worker/serve.ts` in TypeScript.
 */

/** One task for an engine. Files are named relative to the directory of the conversion, also in the arguments. */
export interface Work {
  readonly operation: string;
  readonly arguments: object;
  /** Files that the worker may read. It sees no others. */
  readonly inputs?: readonly string[];
  /** Files that the worker may create, or `.` for any files directly in the directory. The service takes no others. */
  readonly outputs?: '.' | readonly string[];
}

/** The work as a worker gets it. */
export interface Request extends Work {
  /** Repeated by each of its answers. */
  readonly id: number;
  /** Folder with the inputs, under the same names, and for the outputs. The worker makes it its working directory. */
  readonly directory: string;
}

/** Asks a worker that can end a request early to do so. It answers that request as usual. */
export interface Cancel {
  readonly cancel: number;
}

/** A finished file, with facts about it such as its page. */
export interface FinishedFile {
  readonly name: string;
  readonly [fact: string]: unknown;
}

/** An error as a code and the values that its message contains. */
export interface ErrorAnswer {
  readonly code: string;
  readonly values?: Readonly<Record<string, string | number>>;
  /** Only from workers in TypeScript. The others leave the sentence to the service; see `ErrorMessages`. */
  readonly message?: string;
  /** Only for the log. */
  readonly cause?: string;
}

/** The worker makes progress. */
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

/** Precedes all answers: the worker is ready for requests, or tells why its engine does not start. */
export type Start = { readonly ready: true; readonly unsandboxed?: string } | { readonly unstarted: string };

/** The sentences of an engine's errors by code. */
export type ErrorMessages = Readonly<
  Record<string, (values: Readonly<Record<string, string | number>>) => string>
>;

/** Is told about the progress of a request. */
export interface Progress {
  /** Called with the number of finished parts; it can be the same as before. */
  readonly onHeartbeat?: ((done: number) => void) | undefined;
  /** Called with each finished file. It is in the conversion's directory by then. */
  readonly onOutput?: ((file: FinishedFile) => void) | undefined;
}
