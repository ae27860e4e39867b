import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { ConversionError } from '../errors.ts';
import type { InvocationResult, Invoke } from './invoke.ts';

/** Answers of the Lambda service that mean: not now. */
const BUSY = new Set([
  'TooManyRequestsException',
  'EC2ThrottledException',
  'ENILimitReachedException',
  'ResourceNotReadyException',
  'ServiceException',
  'ThrottlingException',
]);

/** Runs tools as Lambda functions; the client must not retry (`maxAttempts: 1`), for a retry would convert twice. */
export function createLambdaInvoke({
  client,
  functionName,
}: {
  client: LambdaClient;
  functionName: (tool: string) => string;
}): Invoke {
  return async (invocation, signal) => {
    const command = new InvokeCommand({
      FunctionName: functionName(invocation.tool),
      Payload: JSON.stringify(invocation),
    });
    const reply = await client.send(command, { abortSignal: signal }).catch((cause) => {
      throw unreachable(cause, signal);
    });
    const payload = parse(reply.Payload);
    if (reply.FunctionError) throw ended(payload);
    return readResult(payload);
  };
}

function unreachable(cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return signal.reason;
  const name = cause instanceof Error ? cause.name : '';
  if (BUSY.has(name)) {
    return new ConversionError('OVERLOADED', 'All converters are busy; try again in a moment.', {
      cause,
      retryAfter: 5,
    });
  }
  return name === 'TimeoutError' ? timedOut(cause) : cause;
}

/** The function ended without an answer: its own time limit, its memory or a crash. */
function ended(payload: unknown): ConversionError {
  const cause = new Error(`The function failed: ${JSON.stringify(payload)?.slice(0, 500)}`);
  const type = (payload as { errorType?: unknown } | undefined)?.errorType;
  if (type === 'Sandbox.Timedout') return timedOut(cause);
  if (type === 'Runtime.ExitError' || type === 'Runtime.OutOfMemory') {
    return new ConversionError('CONVERSION_FAILED', 'The conversion ended without a result.', { cause });
  }
  return ConversionError.from(cause);
}

function timedOut(cause: unknown): ConversionError {
  return new ConversionError('TIMED_OUT', 'The conversion took longer than it may.', { cause });
}

function parse(payload: Uint8Array | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(payload ?? []).toString());
  } catch {
    return undefined;
  }
}

/** Takes the answer apart: the tool has met hostile content, so nothing is passed on unread. */
function readResult(payload: unknown): InvocationResult {
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
    throw ConversionError.from(new Error('The function answered in an unknown form.'));
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
