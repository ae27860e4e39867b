import type { EgressGuard } from '../../../../shared/egress/guard.ts';
import { ConversionError, type ErrorCode, type ErrorReport } from '../../../../shared/errors.ts';
import { describe, type Log } from '../../../../shared/log.ts';
import { namesWithoutEffect } from '../../../../shared/options/read-options.ts';
import type { ConversionLimits, Tool } from '../../../../shared/tool.ts';
import type { Invoke } from '../../../invoke/invoke.ts';
import { readResult } from '../../../invoke/result.ts';
import type { Grant, Put, StoredFile } from '../../../storage.ts';
import type { ToolResult } from './event.ts';
import { readEvent } from './read-event.ts';
import { createReceiver, type Receiver } from './upload.ts';

interface DirectDependencies {
  readonly tool: Tool;
  readonly handle: Invoke;
  readonly egress: EgressGuard;
  readonly limits: ConversionLimits;
  /** Logs and counts the call. The router does so for its own calls. */
  readonly log: Log;
}

/** A failure in Lambda's format: `errorType` is the error code, which Step Functions matches in `ErrorEquals`. */
class ToolError extends Error {
  override readonly name: string;

  constructor({ code, message }: ErrorReport) {
    super(message);
    this.name = code;
  }
}

/** The grant of a direct invocation never leaves this process, so it is the receiver itself. */
type DirectGrant = Grant & { readonly receiver: Receiver };

/** Passes the outputs of direct invocations to their receiver, and all others to `put`. */
export function orReceive(put: Put): Put {
  return async (grant, file: StoredFile, signal) => {
    if (!('receiver' in grant)) return put(grant, file, signal);
    await (grant as DirectGrant).receiver.receive(file, signal);
    return file.name;
  };
}

/**
 * Runs a public event.
 * @throws Error whose name is one of the codes in `errors.ts`.
 */
export async function runDirect(
  event: unknown,
  {
    account,
    signal,
    requestId,
  }: { readonly account: string; readonly signal: AbortSignal; readonly requestId: string },
  { tool, handle, egress, limits, log }: DirectDependencies,
): Promise<ToolResult> {
  const started = performance.now();
  const ended = (code: ErrorCode | 'OK') => {
    const milliseconds = Math.round(performance.now() - started);
    log('call', { requestId, direct: true, tool: tool.name, account, code, milliseconds });
    return milliseconds;
  };
  try {
    const { source, format, outputName, options, optionNames, ignored, upload } = readEvent(tool, event);
    const receiver = createReceiver(upload, egress, account);
    const grant: DirectGrant = { receiver };
    const deadline = Date.now() + limits.conversionTime;
    const invocation = {
      tool: tool.name,
      account,
      source,
      format,
      outputName,
      options,
      grant,
      limits,
      deadline,
    };
    const result = readResult(await handle(invocation, signal));
    if (!result.ok) throw ConversionError.fromReport(result.error);
    const { pageCount, sourceKind, warnings = [] } = result;
    return {
      outputs: receiver.outputs,
      ...(pageCount === undefined ? {} : { pageCount }),
      ignored: namesWithoutEffect({ tool, format, optionNames, ignored }, sourceKind),
      warnings,
      milliseconds: ended('OK'),
    };
  } catch (thrown) {
    const error = ConversionError.from(thrown);
    if (error.code === 'INTERNAL') log('internal error', { requestId, cause: describe(error) }, 'error');
    ended(error.code);
    throw new ToolError(error.toReport());
  }
}
