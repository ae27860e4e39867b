import { type ConversionRequest, parameterNames, readRequest } from '../../../../conversion/request.ts';
import type { EgressGuard } from '../../../../shared/egress/guard.ts';
import { ConversionError, type ErrorCode, type ErrorReport } from '../../../../shared/errors.ts';
import { describe, type Log } from '../../../../shared/log.ts';
import { pairsOf } from '../../../../shared/options/args.ts';
import { createIssues, type Issues } from '../../../../shared/options/issues.ts';
import { type Parameter, readUrl } from '../../../../shared/options/option.ts';
import { namesWithoutEffect } from '../../../../shared/options/read-options.ts';
import type { OutputName } from '../../../../shared/output-name.ts';
import { quote } from '../../../../shared/quote.ts';
import type { ConversionLimits, Tool } from '../../../../shared/tool.ts';
import { type Invocation, type Invoke, readResult } from '../../../invoke.ts';
import type { Grant, Put, StoredFile } from '../../../storage.ts';
import { FILE_NAME, type ToolResult, type Upload } from './event.ts';
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

/** The conversion that a public event requests. */
interface DirectRequest extends ConversionRequest {
  readonly upload: Upload | undefined;
}

/** Fields that are parameters of the HTTP interface. */
const PARAMETERS = ['infile', 'outfile', '_args'];
const FIELDS = ['version', 'infile', 'outfile', 'options', '_args', 'upload'];
const UPLOAD_FIELDS = ['url', 'fields'];
/**
 * Checksum of an empty body, which the AWS SDK signs by default because it has no body when it signs
 * (aws-sdk-js-v3#6994). S3 then rejects every file.
 */
const EMPTY_CHECKSUM = /[?&]x-amz-checksum-crc32=AAAAAA(%3D|=){2}/i;

/**
 * Whether an event comes from the router. Anything else is read as a public event, so that its mistakes are reported.
 */
export function isInvocation({ name }: Tool, event: unknown): event is Invocation {
  if (!isRecord(event) || 'version' in event) return false;
  const records = [event.grant, event.limits, event.options, event.outputName];
  return event.tool === name && typeof event.source === 'string' && records.every(isRecord);
}

/**
 * Reads a public event as the query with the same parameters.
 * @throws ConversionError with one sentence for each mistake and the code of the first.
 */
export function readEvent(tool: Tool, event: unknown): DirectRequest {
  const issues = createIssues();
  const { add, attempt, throwAll } = issues;
  const fields = isRecord(event) ? event : {};
  if (fields.version !== 1) add(fieldError('version', 'must be the number 1', fields.version));
  for (const name of Object.keys(fields)) if (!FIELDS.includes(name)) add(unknownFieldError(name, FIELDS));
  const options = readOptions(tool, fields.options, issues);
  const given = Object.entries(fields).filter(([name]) => PARAMETERS.includes(name));
  const others = pairsOf(Object.fromEntries(given), (...refused) => add(fieldError(...refused)));
  const query = [...options, { name: 'app', value: tool.name }, ...others];
  const origin = { unordered: options.length, isObject: true };
  const request = attempt(() => readRequest(query, [tool], origin));
  const upload = attempt(() => readUpload(fields.upload, request?.outputName), 'upload');
  if (isRecord(fields.upload)) {
    const unknown = Object.keys(fields.upload).filter((name) => !UPLOAD_FIELDS.includes(name));
    for (const name of unknown) add(unknownFieldError(`upload.${name}`, UPLOAD_FIELDS));
  }
  throwAll();
  return { ...request!, upload };
}

/** Returns the options, none of which may be a parameter that every tool has. */
function readOptions(tool: Tool, options: unknown, { add }: Issues): Parameter[] {
  if (options === undefined) return [];
  if (!isRecord(options)) {
    add(fieldError('options', "must be an object such as {'-r': 150}", options));
    return [];
  }
  const own = parameterNames([{ ...tool, options: {} }]);
  for (const name of Object.keys(options))
    if (own.has(name)) add(fieldError('options', 'must not contain a parameter that is no option', name));
  return pairsOf(options, (name, rule, value) => add(fieldError(`options.${name}`, rule, value))).filter(
    ({ name }) => !own.has(name),
  );
}

function readUpload(upload: unknown, outputName: OutputName | undefined): Upload | undefined {
  if (upload === undefined) return undefined;
  if (!isRecord(upload)) throw fieldError('upload', 'must be an object with a url', upload);
  const { url, fields } = upload;
  const href = typeof url === 'string' ? readUrl(url) : undefined;
  if (href === undefined) throw fieldError('upload.url', 'must be a presigned http or https URL', url);
  if (fields !== undefined && !isTexts(fields)) {
    throw fieldError('upload.fields', 'must be an object of strings', fields);
  }
  if (!fields && EMPTY_CHECKSUM.test(href)) {
    throw new ConversionError(
      'BAD_PARAMETER',
      "Field 'upload.url' is signed with the checksum of an empty file. Sign it with `requestChecksumCalculation: 'WHEN_REQUIRED'`.",
    );
  }
  checkCapacity(fields, outputName);
  return { url: href, ...(fields && { fields }) };
}

/** Rejects an upload that can take only one file when there will be several. */
function checkCapacity(fields: Upload['fields'], outputName: OutputName | undefined): void {
  if (fields && !fields.key)
    throw fieldError('upload.fields', "must contain the form's 'key'", Object.keys(fields));
  if (outputName?.kind !== 'numbered' || fields?.key?.includes(FILE_NAME)) return;
  const rule = fields
    ? `must have a 'key' with ${FILE_NAME} for an outfile with %d`
    : 'must be a presigned POST form with fields for an outfile with %d: a PUT URL takes one file';
  throw new ConversionError('BAD_PARAMETER', `Field 'upload' ${rule}.`);
}

function unknownFieldError(name: string, known: readonly string[]): ConversionError {
  const message = `Unknown field ${quote(name)}. Allowed fields: ${known.join(', ')}.`;
  return new ConversionError('UNKNOWN_PARAMETER', message, { parameter: name });
}

function fieldError(name: string, rule: string, value: unknown): ConversionError {
  const got = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  const message = `Field ${quote(name)} ${rule}, got ${quote(got)}.`;
  return new ConversionError('BAD_PARAMETER', message, { parameter: name });
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function isTexts(value: unknown): value is Readonly<Record<string, string>> {
  return isRecord(value) && Object.values(value).every((each) => typeof each === 'string');
}
