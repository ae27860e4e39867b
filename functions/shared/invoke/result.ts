import { ConversionError } from '../errors.ts';
import type { InvocationResult } from './invoke.ts';

/**
 * Reads a tool's response field by field: the tool has processed hostile content, so nothing is passed on unread.
 * @throws ConversionError `INTERNAL` for a response of any other form.
 */
export function readResult(payload: unknown): InvocationResult {
  const result = (payload ?? {}) as Record<string, unknown>;
  if (result.ok === true && isTexts(result.objectKeys)) {
    const { objectKeys, pageCount } = result;
    return {
      ok: true,
      objectKeys,
      ...(Number.isSafeInteger(pageCount) && { pageCount: pageCount as number }),
    };
  }
  const { code, message, retryAfter } = (result.error ?? {}) as Record<string, unknown>;
  if (result.ok !== false || typeof code !== 'string' || typeof message !== 'string') {
    throw ConversionError.from(new Error('The function returned a response of unknown form.'));
  }
  const error = ConversionError.fromReport({
    code,
    message: message.slice(0, 1000),
    ...(Number.isSafeInteger(retryAfter) && { retryAfter: retryAfter as number }),
  });
  return { ok: false, error: error.toReport() };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((entry) => typeof entry === 'string');
}
