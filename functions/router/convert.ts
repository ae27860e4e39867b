import { randomUUID } from 'node:crypto';
import { beforeReply } from '../conversion/after-reply.ts';
import type { KeyRecord } from '../platform/keys/keys.ts';
import { ONCE_PREFIX } from '../platform/storage.ts';
import { ConversionError, type ErrorReport } from '../shared/errors.ts';
import { describe } from '../shared/log.ts';
import type { Parameter } from '../shared/options/option.ts';
import type { Tool } from '../shared/tool.ts';
import { admit } from './admission/admit.ts';
import { linkExpiry } from './admission/signature.ts';
import { toolForSource } from './auto/read-kind.ts';
import { UPLOAD_TIMES } from './body/pace-upload.ts';
import { cacheHeaders, convertCached } from './cached.ts';
import { type Call, type CallResult, failureOf, notAdmitted, type Progress, refundOf } from './call.ts';
import type { Dependencies } from './dependencies.ts';
import { invokeTool } from './invoke.ts';
import { recordFailure, recordUsage } from './record.ts';
import { withHeaders } from './reply.ts';
import { type ConversionRequest, readRequest } from './request.ts';
import { takeTurn } from './turn.ts';
import { CallUploads } from './uploads/call-uploads.ts';

/** Placeholder for a source that has not been received yet. */
const ANY_UPLOAD: Parameter = { name: 'infile', value: `upload:${'0'.repeat(32)}/source` };

/** Converts for the holder of a key: admit, receive, read, join or invoke, reply. */
export async function convert(
  { http, present, trace, signal, body }: Call,
  key: KeyRecord,
  dependencies: Dependencies,
): Promise<CallResult> {
  const { tools, coalesce, limits, log, afterReply = beforeReply } = dependencies;
  const { id: keyId, account } = key;
  const maxDuration = limits.conversionTime + (body ? UPLOAD_TIMES.whole : 0);
  const admission = await admit({ key, maxDuration }, dependencies);
  if (!admission.admitted) return notAdmitted(admission, key, present);

  const uploads = new CallUploads(account, dependencies, signal);
  let progress: Progress = {};
  let ended: CallResult | undefined;
  try {
    await takeTurn(account);
    const read = (added: readonly Parameter[], chosen?: Tool) => {
      const origin = { unordered: http.unordered, canUpload: dependencies.uploads !== undefined, chosen };
      const found = readRequest([...http.query, ...added], tools, origin);
      if (chosen || !found.isAuto) checkTool(found.tool, key);
      return found;
    };
    const decide = async (added: readonly Parameter[]) => {
      const found = read(added);
      if (!found.isAuto) return found;
      const source = await uploads.locate(found.source);
      return read(added, await toolForSource(found, source, { account, trace, signal }, dependencies));
    };
    // All parameters are known, so mistakes are reported before the source is received.
    if (body?.isSource) read([ANY_UPLOAD]);
    const accepted = await decide(body ? await uploads.receive(body) : []);
    if (accepted.isOnce && dependencies.storage.open && accepted.response !== 'file') throw keptError();
    const request = await uploads.open(accepted);
    progress = { request };
    const { isOnce = false } = request;
    // A result that is sent once has one recipient.
    const identity = isOnce
      ? randomUUID()
      : JSON.stringify([account, { ...request, tool: request.tool.name }]);
    let isShared = true;
    const joined = await coalesce(identity, signal, async (shared) => {
      isShared = false;
      const context = { account, trace, allowed: key.tools, ...(isOnce && { parent: ONCE_PREFIX }) };
      const converted = await convertCached({ accepted, account }, dependencies, (validate) =>
        invokeTool(request, { ...context, ...(validate && { validate }) }, dependencies, shared),
      );
      return { ...converted, requestId: trace.requestId };
    });
    const { result, cache, created, requestId } = joined;
    progress = { request, result, ...(isShared && { sharedWith: requestId }), ...(cache && { cache }) };
    if (!result.ok) throw reportedError(result.error, request);
    // Everyone who joined a conversion gets its result in the same turn, and each URL is signed.
    await takeTurn(account);
    const output = await present.output(request, result, { account, storage: dependencies.storage, signal });
    // Another status redirects to a URL that expires.
    const kept =
      output.status === 200 ? cacheHeaders(request, { created, linkExpiry: linkExpiry(http.query) }) : {};
    const reply = withHeaders(output, { ...(cache && { 'X-Cache': cache }), ...kept });
    ended = { reply, facts: { ...progress, code: 'OK', keyId, account } };
  } catch (thrown) {
    const { error, code } = failureOf(thrown, trace, log, signal);
    const exceedsShare = error.values?.share !== undefined;
    ended = { reply: present.error(error), facts: { ...progress, code, keyId, account, exceedsShare } };
  } finally {
    await takeTurn(account);
    const facts = ended?.facts ?? { code: 'INTERNAL' };
    await afterReply(async () => {
      // A file that cannot be deleted now is deleted when it expires.
      const closed = uploads
        .close()
        .catch((thrown: unknown) => log('upload not deleted', { cause: describe(thrown) }, 'error'));
      const failed = recordFailure(facts, trace, dependencies);
      await Promise.all([recordUsage(facts, dependencies), failed, closed]);
    });
    const headers = await admission.release(refundOf(facts));
    ended &&= { ...ended, reply: withHeaders(ended.reply, headers) };
  }
  return ended;
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

function checkTool({ name }: Tool, { tools }: KeyRecord): void {
  if (!tools || tools.includes(name)) return;
  if (tools.length === 0) throw new ConversionError('BAD_PARAMETER', 'This API key may not use any tool.');
  throw new ConversionError(
    'UNKNOWN_APP',
    `Parameter 'app' must be one of ${tools.join(', ')} for this API key, got '${name}'.`,
  );
}
