import type { ErrorReport } from '../../shared/errors.ts';
import type { Format } from '../../shared/formats.ts';
import type { OutputName } from '../../shared/output-name.ts';
import type { SourceFacts } from '../../shared/source/facts.ts';
import type { ConversionLimits, PageFile } from '../../shared/tool.ts';
import type { UnconvertedSource } from '../../shared/unconverted.ts';
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
  /** The files of an uploaded page. Tools that open pages download these instead of opening the URL. */
  readonly files?: readonly PageFile[];
  /** The URLs of sources that were sent. Pages at these URLs are served like `files`, because a browser cannot open them. */
  readonly sent?: readonly string[];
  readonly format: Format;
  readonly outputName: OutputName;
  /** Typed options of the tool, as read by their definitions. */
  readonly options: Readonly<Record<string, unknown>>;
  readonly grant: Grant;
  /**
   * Requests the validators of the source. `known` are those of an earlier result. If they still match, nothing is
   * converted.
   */
  readonly validate?: { readonly known?: string };
  /** Only reads the facts about the source, and converts nothing. The tool is any one that downloads sources. */
  readonly readsFacts?: true;
  readonly limits: ConversionLimits;
  /** Epoch milliseconds. */
  readonly deadline: number;
}

/** One step of a conversion: `queue`, `download`, `convert` or `store`. */
export interface TimedStep {
  readonly step: string;
  /** Start in epoch milliseconds. */
  readonly at: number;
  readonly milliseconds: number;
}

/** Resources that a conversion used. */
export interface Measured {
  readonly sourceBytes: number;
  readonly resultBytes: number;
  readonly pages: number;
  readonly milliseconds: number;
  /** 1 if an execution environment was started for the conversion. */
  readonly coldStarts?: number;
  /** Milliseconds by step: `queue`, `download`, `convert`, `store`. */
  readonly steps: Readonly<Record<string, number>>;
  /** The same steps one by one, for traces. */
  readonly timed?: readonly TimedStep[];
}

export interface StoredDetails {
  readonly bytes: number;
  /** Page of the document, if there is a file per page. */
  readonly page?: number;
}

export type InvocationResult = { readonly measured?: Measured } & (
  | {
      readonly ok: true;
      readonly objectKeys: readonly string[];
      /** Facts about the objects, in the same order. */
      readonly stored?: readonly StoredDetails[];
      readonly pageCount?: number;
      readonly settled?: boolean;
      /** Kind of the source; see `Converted.sourceKind`. */
      readonly sourceKind?: string;
      /** Sentences about missing parts of the results; see `Converted.warnings`. */
      readonly warnings?: readonly string[];
      /** Hash of the source's validators, if they were requested and the source has any. */
      readonly validators?: string;
      /** Whether the source still has the known validators, so that there are no results. */
      readonly unchanged?: boolean;
      /** For `readsFacts`. */
      readonly facts?: SourceFacts;
    }
  | {
      readonly ok: false;
      readonly error: ErrorReport;
      /** Sources that other tools must convert to PDFs before the tool is invoked again. */
      readonly unconverted?: readonly UnconvertedSource[];
    }
);

/** Runs a tool in this process or as a Lambda function. Rejects only when the tool could not be reached. */
export type Invoke = (invocation: Invocation, signal: AbortSignal) => Promise<InvocationResult>;
