import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { ConversionError } from '../errors.ts';
import { abortError, timeoutError } from '../timeout.ts';
import type { InvocationResult, Invoke } from './invoke.ts';

/** Errors of the Lambda service that mean it is at capacity. */
const BUSY = new Set([
  'TooManyRequestsException',
  'EC2ThrottledException',
  'ENILimitReachedException',
  'ResourceNotReadyException',
  'ServiceException',
  'ThrottlingException',
]);

/** Runs tools as Lambda functions. The client must not retry (`maxAttempts: 1`), because a retry would convert again. */
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
    if (reply.FunctionError) throw functionError(payload);
    return readResult(payload);
  };
}

function unreachable(cause: unknown, signal: AbortSignal): unknown {
  if (signal.aborted) return abortError(signal);
  const name = cause instanceof Error ? cause.name : '';
  if (BUSY.has(name)) {
    return new ConversionError('OVERLOADED', 'The service is at capacity. Retry in 5 seconds.', {
      cause,
      retryAfter: 5,
    });
  }
  return name === 'TimeoutError' ? timeoutError(cause) : cause;
}

/** Returns the error of a function that ended without a result: its timeout, its memory limit or a crash. */
function functionError(payload: unknown): ConversionError {
  const cause = new Error(`The function failed: ${JSON.stringify(payload)?.slice(0, 500)}`);
  const type = (payload as { errorType?: unknown } | undefined)?.errorType;
  if (type === 'Sandbox.Timedout') return timeoutError(cause);
  if (type === 'Runtime.ExitError' || type === 'Runtime.OutOfMemory') {
    return new ConversionError(
      'CONVERSION_FAILED',
      'The conversion failed: this source crashes the engine.',
      { cause },
    );
  }
  return ConversionError.from(cause);
}

function parse(payload: Uint8Array | undefined): unknown {
  try {
    return JSON.parse(Buffer.from(payload ?? []).toString());
  } catch {
    return undefined;
  }
}

/** Reads the response field by field: the tool has processed hostile content, so nothing in it is trusted. */
function readResult(payload: unknown): InvocationResult {
  const result = (payload ?? {}) as Record<string, unknown>;
  if (result.ok === true && isTexts(result.objectKeys)) {
    const { objectKeys, pageCount, settled } = result;
    return {
      ok: true,
      objectKeys,
      ...(Number.isSafeInteger(pageCount) && { pageCount: pageCount as number }),
      ...(typeof settled === 'boolean' && { settled }),
    };
  }
  const { code, message, retryAfter } = (result.error ?? {}) as Record<string, unknown>;
  if (result.ok !== false || typeof code !== 'string' || typeof message !== 'string') {
    throw ConversionError.from(new Error('The function returned an unknown response.'));
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
