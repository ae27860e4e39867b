import { ConversionError } from '../../shared/errors.ts';
import type { SourceFacts } from '../../shared/source/facts.ts';
import { HEAD_BYTES } from '../../shared/source/file-kind.ts';
import type { UnconvertedSource } from '../../shared/unconverted.ts';
import type { InvocationResult, Measured, StoredDetails, TimedStep } from './invoke.ts';

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
      ...(isTexts(warnings) && { warnings: warnings.filter(isSentence).slice(0, 10) }),
    };
  }
  const { code, message, parameter, retryAfter } = (result.error ?? {}) as Record<string, unknown>;
  if (result.ok !== false || typeof code !== 'string' || typeof message !== 'string') {
    throw ConversionError.from(new Error('The function returned a response in an unknown format.'));
  }
  const error = ConversionError.fromReport({
    code,
    message: message.slice(0, 1000),
    ...(isName(parameter) && { parameter }),
    ...(Number.isSafeInteger(retryAfter) && { retryAfter: retryAfter as number }),
  });
  return {
    ok: false,
    error: error.toReport(),
    ...(isUnconverted(result.unconverted) && { unconverted: result.unconverted }),
    ...(measured && { measured }),
  };
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

/** Whether a text is allowed in a header. */
function isSentence(text: string): boolean {
  return /^[ -~]{1,200}$/.test(text);
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
