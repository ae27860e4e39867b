import { randomUUID } from 'node:crypto';
import { checkFor, moveResults } from '../buckets/buckets.ts';
import { type ConversionRequest, readRequest, requestFor } from '../conversion/request.ts';
import { beforeReply, type StoredResults } from '../platform/invoke.ts';
import type { KeyRecord } from '../platform/keys.ts';
import { ONCE_PREFIX } from '../platform/storage.ts';
import { ConversionError, type ErrorReport } from '../shared/errors.ts';
import { describe } from '../shared/log.ts';
import type { Parameter } from '../shared/options/option.ts';
import type { Tool } from '../shared/tool.ts';
import { type AdmittedWork, admit, type LimitDependencies } from './admission/admit.ts';
import { toolForSource } from './auto.ts';
import {
  type CallFacts,
  failureOf,
  type Progress,
  recordFailure,
  recordUsage,
  refundOf,
  type Trace,
} from './call.ts';
import type { Dependencies } from './dependencies.ts';
import { invokeTool } from './invoke.ts';
import { convertCached, convertOnce, hashOf } from './reuse.ts';
import { takeTurn } from './turn.ts';
import { type Body, UPLOAD_TIMES } from './uploads/body.ts';
import { CallUploads, type OpenedRequest, type SavedUploads } from './uploads/call-uploads.ts';

/** Who works, for the limits and the log, and what stops the work. */
interface Counted {
  readonly key: KeyRecord;
  readonly trace: Trace;
  readonly signal: AbortSignal;
}

/** A conversion for the holder of a key. */
interface ConversionCall extends Counted {
  readonly query: readonly Parameter[];
  /** See `QueryOrigin`. */
  readonly unordered?: number | undefined;
  readonly body?: Body | undefined;
  /** The value of the header. */
  readonly idempotencyKey?: string | undefined;
  /** A request that was accepted earlier, as a job, with its uploads. Then `query` and `body` are not read. */
  readonly accepted?: { readonly request: ConversionRequest; readonly uploads: SavedUploads };
  /** Whether only a job can be the result, so that the call is not a conversion in progress. */
  readonly isJob?: boolean;
}

/** Handles the outcome of a call. */
interface Outcomes<Value> {
  /** Returns what the caller needs of a result, while the conversion still counts as in progress. */
  deliver(finished: Finished): Promise<Value>;
  /** Accepts a job, with the uploads that it takes over. Absent if there are no jobs. */
  defer?(request: ConversionRequest, uploads: CallUploads): Promise<Value>;
}

/** A conversion that has a result. */
export interface Finished extends Progress {
  readonly request: OpenedRequest;
  readonly result: StoredResults;
  /** When an earlier result was stored that is used again, in epoch milliseconds. */
  readonly created?: number | undefined;
}

/** How work ended, with headers that tell the remaining limits. */
export type Ended<Value> = {
  readonly facts: CallFacts;
  readonly headers: Readonly<Record<string, string>>;
} & ({ readonly value: Value } | { readonly error: ConversionError });

/** Placeholder for a source that has not been received yet. */
const ANY_UPLOAD: Parameter = { name: 'infile', value: `upload:${'0'.repeat(32)}/source` };

/**
 * Runs a conversion from its admission to its release, or accepts it as a job. Nothing in it depends on a reply. Fails as
 * `whileAdmitted` does.
 */
export function runConversion<Value>(
  call: ConversionCall,
  dependencies: Dependencies,
  { deliver, defer }: Outcomes<Value>,
): Promise<Ended<Value>> {
  const { key, trace, signal, body, idempotencyKey, accepted: earlier, isJob = false } = call;
  const { account } = key;
  const { limits, log, afterReply = beforeReply } = dependencies;
  const isHashed = idempotencyKey !== undefined;
  const uploads = new CallUploads(account, dependencies, signal, { isHashed, saved: earlier?.uploads });
  const maxDuration = limits.conversionTime + (body ? UPLOAD_TIMES.whole : 0);

  const run = async (report: (progress: Progress) => void) => {
    await takeTurn(account);
    const accepted = earlier?.request ?? (await acceptRequest(call, uploads, dependencies));
    // The key may have been restricted since the job was accepted.
    if (earlier) checkTool(accepted.tool, key);
    if (accepted.job && !earlier) {
      if (!defer) throw noJobsError();
      return defer(accepted, uploads);
    }
    if (isJob) throw new Error('A call was admitted as a job but is not one.');
    let request: OpenedRequest = accepted;
    const once = { accepted, uploads, account, key: idempotencyKey, maxDuration };
    // Until it is known that it converts something.
    if (idempotencyKey !== undefined) report({ request, isRepeated: true });
    const { result, ...shared } = await convertOnce(once, dependencies, async () => {
      report({});
      // Not before, because an earlier result does not need its sources.
      request = await uploads.open(accepted);
      report({ request });
      return convertOrJoin(accepted, request, call, dependencies);
    });
    report({ request, result, ...shared });
    if (!result.ok) throw reportedError(result.error, request);
    const moved = await moveResults(request, result, { account, signal }, dependencies);
    // Everyone who joined a conversion gets its result in the same turn, and each URL is signed.
    await takeTurn(account);
    return deliver({ request, result: moved, ...shared });
  };
  const record = async (facts: CallFacts) => {
    await takeTurn(account);
    await afterReply(async () => {
      // A file that cannot be deleted now is deleted when it expires.
      const closed = uploads
        .close()
        .catch((thrown: unknown) => log('upload not deleted', { cause: describe(thrown) }, 'error'));
      const failed = recordFailure(facts, trace, dependencies);
      await Promise.all([recordUsage(facts, dependencies), failed, closed]);
    });
  };
  return whileAdmitted({ ...call, maxDuration, isCounted: !isJob }, dependencies, run, record);
}

/**
 * Admits work of an account, runs it and releases it. `run` reports how far it has come, and `record` gets what is
 * known in the end. Fails only if the limits cannot be read.
 */
export async function whileAdmitted<Value>(
  { key, trace, signal, ...admission }: Counted & Omit<AdmittedWork, 'key'>,
  dependencies: LimitDependencies,
  run: (report: (progress: Progress) => void) => Promise<Value>,
  record: (facts: CallFacts) => Promise<void> = async () => {},
): Promise<Ended<Value>> {
  const { id: keyId, account } = key;
  const admitted = await admit({ key, ...admission }, dependencies);
  if (!admitted.admitted) {
    const { error, headers } = admitted;
    return { error, headers, facts: { code: error.code, keyId, account } };
  }
  let progress: Progress = {};
  const outcome = await run((reported) => (progress = reported)).then(
    (value) => ({ code: 'OK', value }) as const,
    (thrown: unknown) => failureOf(thrown, trace, dependencies.log, signal),
  );
  const exceedsShare = 'error' in outcome && outcome.error.detailsOf('OVERLOADED').share !== undefined;
  const facts = { ...progress, code: outcome.code, keyId, account, exceedsShare };
  await record(facts);
  return { ...outcome, facts, headers: await admitted.release(refundOf(facts)) };
}

/**
 * Receives the files of a call and reads its parameters.
 * @throws ConversionError with every mistake in the parameters. If all of them are known, no source is received first.
 */
async function acceptRequest(
  { query, unordered, body, key, trace, signal, isJob }: ConversionCall,
  uploads: CallUploads,
  dependencies: Dependencies,
): Promise<ConversionRequest> {
  const read = async (added: readonly Parameter[]) => {
    const all = [...query, ...added];
    const checkPlace = await checkFor(key, dependencies, all);
    const origin = { unordered, canUpload: dependencies.uploads !== undefined, isJob, checkPlace };
    const found = readRequest(all, dependencies.tools, origin);
    if (!found.isAuto) checkTool(found.tool, key);
    return found;
  };
  const early = body?.isSource ? await read([ANY_UPLOAD]) : undefined;
  const added = body ? await uploads.receive(body, query) : [];
  let accepted = early ?? (await read(added));
  const source = early ? added[0]!.value : accepted.source;
  if (accepted.choices) {
    const context = { account: key.account, trace, signal };
    const tool = await toolForSource(accepted, await uploads.locate(source), context, dependencies);
    accepted = requestFor(accepted.choices, tool);
    checkTool(tool, key);
  }
  accepted = { ...accepted, source };
  const isSent = accepted.response === 'file' || accepted.to !== undefined;
  if (accepted.isOnce && dependencies.storage.open && !isSent) throw keptError();
  return accepted;
}

/** Converts, or uses the result of an identical request that is in progress or has been kept. */
async function convertOrJoin(
  accepted: ConversionRequest,
  request: OpenedRequest,
  { key, trace, signal }: Counted,
  dependencies: Dependencies,
) {
  const { account, tools: allowed } = key;
  const { isOnce = false } = request;
  // A result that is sent once has one recipient.
  const identity = isOnce ? randomUUID() : hashOf([account, { ...request, tool: request.tool.name }]);
  let isShared = true;
  const { requestId, ...joined } = await dependencies.coalesce(identity, signal, async (shared) => {
    isShared = false;
    const context = { account, trace, allowed, ...(isOnce && { parent: ONCE_PREFIX }) };
    const converted = await convertCached({ accepted, account }, dependencies, (validate) =>
      invokeTool(request, { ...context, ...(validate && { validate }) }, dependencies, shared),
    );
    return { ...converted, requestId: trace.requestId };
  });
  return { ...joined, ...(isShared && { sharedWith: requestId }) };
}

/**
 * Returns the error of a conversion, with a hint if the source server may have received a different URL than the
 * caller intended.
 */
function reportedError(report: ErrorReport, { isReassembled }: ConversionRequest): ConversionError {
  const error = ConversionError.fromReport(report);
  if (error.code !== 'SOURCE_STATUS' || error.parameter !== 'infile' || !isReassembled) return error;
  const hint =
    "'infile' was not percent-encoded, so its query parameters may have been reordered or respelled. Encode it.";
  return new ConversionError(error.code, `${error.message} ${hint}`, { cause: error });
}

/** The storage itself serves the URLs, so the service does not learn when a result has been sent. */
function keptError(): ConversionError {
  return new ConversionError(
    'BAD_PARAMETER',
    "Parameter '_keep=0' requires '_response=file' on this deployment. To delete other results, send DELETE to /api/results.",
  );
}

function noJobsError(): ConversionError {
  return new ConversionError(
    'BAD_PARAMETER',
    "This service does not run jobs. Leave out '_async' and '_webhook'.",
  );
}

function checkTool({ name }: Tool, { tools }: KeyRecord): void {
  if (!tools || tools.includes(name)) return;
  if (tools.length === 0) throw new ConversionError('BAD_PARAMETER', 'This API key may not use any tool.');
  throw new ConversionError(
    'UNKNOWN_APP',
    `Parameter 'app' must be one of ${tools.join(', ')} for this API key, got '${name}'.`,
  );
}
