import { setTimeout } from 'node:timers/promises';
import type { EngineStatus } from '../engines/worker/observer.ts';
import { ConversionError, type ErrorReport, type ReceivedReport } from '../shared/errors.ts';
import type { Format } from '../shared/formats.ts';
import type { OutputName } from '../shared/output-name.ts';
import { printable, toAscii } from '../shared/quote.ts';
import { HEAD_BYTES, type SourceFacts } from '../shared/source/file-kind.ts';
import type { ConversionLimits, PageFile, UnconvertedSource } from '../shared/tool.ts';
import type { Grant } from './storage.ts';

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
   * Requests the validators of all sources. `known` are those of an earlier result. If they still match, nothing is
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

export type InvocationResult = {
  readonly measured?: Measured;
  /** Hash of the validators of all sources, if they were requested and a source has any. */
  readonly validators?: string;
} & (
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
      /** Whether the sources still have the known validators, so that there are no results. */
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

/** The results of a conversion: objects in the storage, unless they were moved to other `urls`. */
export type StoredResults = Extract<InvocationResult, { readonly ok: true }> & {
  readonly urls?: readonly string[];
};

/** Runs a tool in this process or as a Lambda function. Rejects only when the tool could not be reached. */
export type Invoke = (invocation: Invocation, signal: AbortSignal) => Promise<InvocationResult>;

/** State of a tool: that of its engine, or `busy` if too many conversions were running to ask it. */
export type ToolStatus = EngineStatus | 'busy';

/** The state of each tool, by the tool's name. */
export type Health = Readonly<Record<string, ToolStatus>>;

/** State of something that all tools need. */
export type MachineStatus = EngineStatus | 'full';

/** How long a reply waits for work before it, in milliseconds. */
const MAX_DELAY = 1000;

/** Runs work that no caller waits for. */
export type AfterReply = (work: () => void | Promise<void>) => void | Promise<void>;

/**
 * Runs the work before the reply, because Lambda freezes a function that has replied. What takes longer than a second continues with the
 * next call.
 */
export const beforeReply: AfterReply = async (work) => {
  const stop = new AbortController();
  await Promise.race([
    Promise.resolve(work()).finally(() => stop.abort()),
    setTimeout(MAX_DELAY, undefined, { signal: stop.signal }).catch(() => undefined),
  ]);
};

/** Runs the work as soon as the reply has been sent. */
export const afterReply: AfterReply = (work) => {
  setImmediate(work);
};

/** Maximum number of warnings, which are sent in a header, and characters of each. */
const MAX_WARNINGS = 10;
const MAX_WARNING = 200;
/** Maximum number of mistakes of an error, and characters of a message. */
const MAX_ISSUES = 100;
const MAX_MESSAGE = 5000;

/**
 * Validates a tool's response field by field, because the tool has processed hostile content.
 * @throws ConversionError `INTERNAL` for a response with any other structure.
 */
export function readResult(payload: unknown): InvocationResult {
  const result = (payload ?? {}) as Record<string, unknown>;
  const measured = readMeasured(result.measured);
  const { validators } = result;
  const shared = {
    ...(measured && { measured }),
    ...(typeof validators === 'string' && /^[0-9a-f]{64}$/.test(validators) && { validators }),
  };
  if (result.ok === true && isTexts(result.objectKeys)) {
    const { objectKeys, pageCount, settled, sourceKind, warnings, unchanged } = result;
    return {
      ok: true,
      objectKeys,
      ...shared,
      ...(isStored(result.stored) && { stored: result.stored }),
      ...(Number.isSafeInteger(pageCount) && { pageCount: pageCount as number }),
      ...(typeof settled === 'boolean' && { settled }),
      ...(typeof sourceKind === 'string' && /^\w{1,10}$/.test(sourceKind) && { sourceKind }),
      ...(unchanged === true && { unchanged }),
      ...(isFacts(result.facts) && { facts: result.facts }),
      ...(isTexts(warnings) && { warnings: boundWarnings(warnings) }),
    };
  }
  const report = result.ok === false && readReport(result.error);
  if (!report) throw ConversionError.from(new Error('The tool returned a response in an unknown format.'));
  return {
    ok: false,
    error: ConversionError.fromReport(report).toReport(),
    ...(isUnconverted(result.unconverted) && { unconverted: result.unconverted }),
    ...shared,
  };
}

/** Reads an error and the mistakes that it describes, none of which describes others. */
function readReport(value: unknown, isIssue = false): ReceivedReport | undefined {
  const { code, message, parameter, index, retryAfter, issues } = (value ?? {}) as Record<string, unknown>;
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  const described = !isIssue && Array.isArray(issues) && issues.slice(0, MAX_ISSUES);
  return {
    code,
    message: printable(message.slice(0, MAX_MESSAGE)),
    ...(isName(parameter) && { parameter }),
    ...(isAmount(index) && { index }),
    ...(Number.isSafeInteger(retryAfter) && { retryAfter: retryAfter as number }),
    ...(described && { issues: described.flatMap((issue) => readReport(issue, true) ?? []) }),
  };
}

/** Returns warnings as they may be in a header. The last one tells how many there are no room for. */
export function boundWarnings(warnings: readonly string[]): string[] {
  const shown = warnings.slice(0, MAX_WARNINGS).map((warning) => toAscii(warning, MAX_WARNING));
  const more = warnings.length - MAX_WARNINGS + 1;
  return more > 1 ? [...shown.slice(0, -1), `There are ${more} more warnings.`] : shown;
}

function isUnconverted(value: unknown): value is readonly UnconvertedSource[] {
  if (!Array.isArray(value) || value.length > 1000) return false;
  return value.every((entry: unknown) => {
    const { parameter, index, tool, asPages = false, ...others } = (entry ?? {}) as Record<string, unknown>;
    const isPlace = isName(parameter) && isAmount(index);
    const isTyped = isPlace && typeof tool === 'string' && typeof asPages === 'boolean';
    return isTyped && Object.keys(others).length === 0;
  });
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}

/** Whether a value can be the name of a parameter. */
function isName(value: unknown): value is string {
  return typeof value === 'string' && /^[-+_\w]{1,40}$/.test(value);
}

function isFacts(value: unknown): value is SourceFacts {
  const { head, name, contentType, ...others } = (value ?? {}) as Record<string, unknown>;
  const texts = [head, name, contentType];
  return (
    texts.every((text) => typeof text === 'string' && text.length <= HEAD_BYTES) &&
    Object.keys(others).length === 0
  );
}

function isStored(value: unknown): value is readonly StoredDetails[] {
  if (!Array.isArray(value)) return false;
  return value.every((entry: unknown) => {
    const { bytes, page, ...others } = (entry ?? {}) as Record<string, unknown>;
    return isAmount(bytes) && (page === undefined || isAmount(page)) && Object.keys(others).length === 0;
  });
}

function readMeasured(value: unknown): Measured | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  const facts = value as Record<string, unknown>;
  const number = (name: string) => (isAmount(facts[name]) ? facts[name] : 0);
  const steps = Object.entries(facts.steps ?? {}).filter((entry): entry is [string, number] =>
    isAmount(entry[1]),
  );
  return {
    sourceBytes: number('sourceBytes'),
    resultBytes: number('resultBytes'),
    pages: number('pages'),
    milliseconds: number('milliseconds'),
    coldStarts: number('coldStarts'),
    steps: Object.fromEntries(steps.filter(([name]) => isStep(name)).slice(0, 10)),
    ...(Array.isArray(facts.timed) && { timed: facts.timed.filter(isTimed).slice(0, 50).map(timedStep) }),
  };
}

function isTimed(value: unknown): value is TimedStep {
  const { step, at, milliseconds } = (value ?? {}) as Record<string, unknown>;
  return typeof step === 'string' && isStep(step) && isTime(at) && isAmount(milliseconds);
}

function timedStep({ step, at, milliseconds }: TimedStep): TimedStep {
  return { step, at, milliseconds };
}

function isStep(name: string): boolean {
  return /^[a-z]{1,20}$/.test(name);
}

function isTime(value: unknown): boolean {
  return typeof value === 'number' && value > 0 && value < 1e14;
}

function isAmount(value: unknown): value is number {
  return typeof value === 'number' && value >= 0 && value < 1e12;
}
