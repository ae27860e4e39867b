import type { ErrorReport } from '../../shared/errors.ts';
import type { OutputName } from '../../shared/output-name.ts';
import type { Format, Limits } from '../../shared/tool.ts';
import type { Grant } from '../storage.ts';

/** The router's event for a tool: plain JSON, without API keys or credentials. */
export interface Invocation {
  /** Request ID of the call, for the log. */
  readonly requestId?: string;
  /** W3C trace context of the caller. */
  readonly traceparent?: string;
  readonly tool: string;
  readonly account: string;
  /** Absolute http or https URL, not yet checked against the egress rules. */
  readonly source: string;
  readonly format: Format;
  readonly outputName: OutputName;
  /** Typed options of the tool, as its parameters read them. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly grant: Grant;
  readonly limits: Limits;
  /** Epoch milliseconds. */
  readonly deadline: number;
}

/** What a conversion used. */
export interface Measured {
  readonly sourceBytes: number;
  readonly resultBytes: number;
  readonly pages: number;
  readonly milliseconds: number;
  /** Milliseconds by step: `queue`, `download`, `convert`, `store`. */
  readonly steps: Readonly<Record<string, number>>;
}

export type InvocationResult = { readonly measured?: Measured } & (
  | {
      readonly ok: true;
      readonly objectKeys: readonly string[];
      readonly pageCount?: number;
      readonly settled?: boolean;
      /** Kind of the source; see `Converted.sourceKind`. */
      readonly sourceKind?: string;
    }
  | { readonly ok: false; readonly error: ErrorReport }
);

/** Runs a tool: in this process, or as a Lambda function. Rejects only when the tool could not be reached. */
export type Invoke = (invocation: Invocation, signal: AbortSignal) => Promise<InvocationResult>;
