import { ConversionError, type ErrorReport } from '../../shared/errors.ts';
import { toAscii } from '../../shared/quote.ts';
import type { SourceFacts } from '../../shared/source/facts.ts';
import { HEAD_BYTES } from '../../shared/source/file-kind.ts';
import type { UnconvertedSource } from '../../shared/unconverted.ts';
import type { InvocationResult, Measured, StoredDetails, TimedStep } from './invoke.ts';

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
  if (result.ok === true && isTexts(result.objectKeys)) {
    const { objectKeys, pageCount, settled, sourceKind, warnings, validators, unchanged } = result;
    return {
      ok: true,
      objectKeys,
      ...(measured && { measured }),
      ...(isStored(result.stored) && { stored: result.stored }),
      ...(Number.isSafeInteger(pageCount) && { pageCount: pageCount as number }),
      ...(typeof settled === 'boolean' && { settled }),
      ...(typeof sourceKind === 'string' && /^\w{1,10}$/.test(sourceKind) && { sourceKind }),
      ...(typeof validators === 'string' && /^[0-9a-f]{64}$/.test(validators) && { validators }),
      ...(unchanged === true && { unchanged }),
      ...(isFacts(result.facts) && { facts: result.facts }),
      ...(isTexts(warnings) && { warnings: boundWarnings(warnings) }),
    };
  }
  const report = result.ok === false && readReport(result.error);
  if (!report) throw ConversionError.from(new Error('The tool returned a response in an unknown format.'));
  return {
    ok: false,
    error: ConversionError.fromReport({ ...report, ...readIssues(result.error) }).toReport(),
    ...(isUnconverted(result.unconverted) && { unconverted: result.unconverted }),
    ...(measured && { measured }),
  };
}

function readReport(value: unknown): ErrorReport | undefined {
  const { code, message, parameter, retryAfter } = (value ?? {}) as Record<string, unknown>;
  if (typeof code !== 'string' || typeof message !== 'string') return undefined;
  return ConversionError.fromReport({
    code,
    message: message.slice(0, MAX_MESSAGE),
    ...(isName(parameter) && { parameter }),
    ...(Number.isSafeInteger(retryAfter) && { retryAfter: retryAfter as number }),
  }).toReport();
}

/** Reads the mistakes that an error describes. A mistake describes no others. */
function readIssues(error: unknown): Pick<ErrorReport, 'issues'> {
  const { issues } = error as { issues?: unknown };
  if (!Array.isArray(issues)) return {};
  return { issues: issues.slice(0, MAX_ISSUES).flatMap((issue) => readReport(issue) ?? []) };
}

/** Returns warnings as they may be in a header. The last one tells how many there are no room for. */
function boundWarnings(warnings: readonly string[]): string[] {
  const shown = warnings.slice(0, MAX_WARNINGS).map((warning) => toAscii(warning, MAX_WARNING));
  const more = warnings.length - MAX_WARNINGS + 1;
  return more > 1 ? [...shown.slice(0, -1), `There are ${more} more warnings.`] : shown;
}

function isUnconverted(value: unknown): value is readonly UnconvertedSource[] {
  if (!Array.isArray(value) || value.length > 1000) return false;
  return value.every((entry: unknown) => {
    const { url, tool, asPages = false, ...others } = (entry ?? {}) as Record<string, unknown>;
    const isTyped = typeof url === 'string' && typeof tool === 'string' && typeof asPages === 'boolean';
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
