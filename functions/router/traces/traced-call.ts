import type { TimedStep } from '../../platform/invoke/invoke.ts';
import { describe, type Log } from '../../shared/log.ts';

/** A finished call, with what its trace contains: neither a URL nor anything else of the request's parameters. */
export interface TracedCall {
  /** W3C trace context of the caller, which the trace becomes a part of. */
  readonly traceparent: string | undefined;
  /** Epoch milliseconds. */
  readonly began: number;
  readonly ended: number;
  readonly attributes: Readonly<Record<string, string | number>>;
  /** Whether the service failed, rather than the caller. */
  readonly isFailure: boolean;
  readonly steps: readonly TimedStep[];
}

/** Sends traces to a collector. */
export interface Traces {
  record(call: TracedCall): void;
  /** Resolves when everything recorded so far was sent or given up. */
  flush(): Promise<void>;
}

export interface TraceSettings {
  /** Base URL of a collector that accepts OTLP over HTTP. */
  readonly endpoint: string;
  /** Maximum milliseconds for sending once. */
  readonly timeout: number;
  /** Returns further headers as `name=value` pairs, separated by commas. */
  readonly headers?: () => Promise<string | undefined>;
  /** Gets a line if traces could not be sent. */
  readonly log: Log;
}

/** Logs why traces were not sent. */
export function reportFailure(log: Log, thrown: unknown): void {
  log('traces not sent', { cause: describe(thrown) }, 'warn');
}
