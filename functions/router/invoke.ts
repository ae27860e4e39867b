import { randomBytes } from 'node:crypto';
import type { Invocation, InvocationResult, Invoke } from '../platform/invoke/invoke.ts';
import type { Storage } from '../platform/storage.ts';
import { contentTypeOf } from '../shared/output-name.ts';
import type { ConversionLimits } from '../shared/tool.ts';
import type { Trace } from './call.ts';
import type { OpenedRequest } from './uploads/call-uploads.ts';

interface InvokeDependencies {
  readonly storage: Storage;
  readonly invoke: Invoke;
  readonly limits: ConversionLimits;
}

interface InvokeContext {
  readonly account: string;
  readonly trace: Trace;
  /** Prefix of the object keys of the results. */
  readonly parent?: string;
  /** See `Invocation`. */
  readonly validate?: Invocation['validate'];
}

/** How long after its deadline a conversion may still store its results, in milliseconds. */
const INVOKE_GRACE = 60_000;

/**
 * Invokes the tool of a request, with a grant to store results under a unique prefix.
 * @throws ConversionError if the storage refuses the grant or the tool cannot be reached.
 */
export async function invokeTool(
  { tool, format, outputName, source, files, options }: OpenedRequest,
  { account, trace, parent = '', validate }: InvokeContext,
  { storage, invoke, limits }: InvokeDependencies,
  signal: AbortSignal,
): Promise<InvocationResult> {
  const { requestId, traceparent } = trace;
  const deadline = Date.now() + limits.conversionTime;
  // Object keys cannot be guessed, because they contain 128 random bits before the cleaned file name.
  const prefix = `${parent}${randomBytes(16).toString('hex')}/`;
  const grant = await storage.grant({
    prefix,
    account,
    maxBytes: limits.resultBytes,
    lifetime: limits.conversionTime + INVOKE_GRACE,
    contentType: contentTypeOf({ format, outputName }),
  });
  const invocation = {
    requestId,
    ...(traceparent && { traceparent }),
    tool: tool.name,
    account,
    source,
    ...(files && { files }),
    format,
    outputName,
    options,
    grant,
    ...(validate && { validate }),
    limits,
    deadline,
  };
  const result = await invoke(invocation, signal);
  const isForeign = result.ok && result.objectKeys.some((objectKey) => !objectKey.startsWith(prefix));
  if (isForeign) throw new Error('A tool named an object outside its grant.');
  return result;
}
