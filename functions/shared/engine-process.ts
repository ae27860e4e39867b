// Interface only for now; the implementation follows within minutes.
import type { ConversionError } from './errors.ts';

/** How to start one engine process. It reads one JSON request a line on stdin and answers JSON lines on file descriptor 3. */
export interface EngineCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** The whole environment: nothing is inherited but PATH, HOME, TMPDIR and LANG, set by us. */
  readonly environment?: Readonly<Record<string, string>>;
}

/** What an engine writes on file descriptor 3, one JSON object a line. */
export type EngineMessage<Event, Result> =
  /** Once, when it can take requests. */
  | { readonly ready: true }
  /** Any number while a request runs, e.g. a finished page. */
  | { readonly event: Event }
  /** Ends a request. */
  | { readonly result: Result }
  /** Ends a request; the process stays usable. */
  | { readonly error: ReturnType<ConversionError['toReport']> };

export interface EngineOptions {
  /** Processes at most. */
  readonly size: number;
  /** Requests after which a process is replaced. */
  readonly requests: number;
  /** Resident MiB above which a process is replaced after its request. */
  readonly memory: number;
}

export interface EngineRequest<Event> {
  readonly tenant: string;
  readonly deadline: number;
  readonly signal: AbortSignal;
  readonly onEvent?: (event: Event) => void;
}

/** Warm engine processes: own process group, scrubbed environment, one request at a time, never two tenants in one process. */
export declare class EngineProcesses {
  constructor(command: () => EngineCommand, options: EngineOptions);
  /** Starts a process ahead of need. */
  warm(): Promise<void>;
  /**
   * Runs one request: retried once in a fresh process after a crash, never after a time-out.
   * @throws ConversionError what the engine reported; `TIMED_OUT`; `CONVERSION_FAILED` after a second crash.
   */
  run<Result, Event = never>(request: object, options: EngineRequest<Event>): Promise<Result>;
  close(): Promise<void>;
}
