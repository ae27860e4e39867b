import { ConversionError } from '../../../../shared/errors.ts';
import type { Format } from '../../../../shared/formats.ts';
import { readArgs } from '../../../../shared/options/args.ts';
import { createIssues, type Issues } from '../../../../shared/options/issues.ts';
import { type Parameter, readUrl } from '../../../../shared/options/option.ts';
import { checkOrder } from '../../../../shared/options/order.ts';
import { pairsOf } from '../../../../shared/options/pairs.ts';
import { readOptions } from '../../../../shared/options/read-options.ts';
import { readSourceUrl } from '../../../../shared/options/source-parameter.ts';
import { checkFormat, type OutputName, readOutputName } from '../../../../shared/output-name.ts';
import { quote } from '../../../../shared/quote.ts';
import type { Tool } from '../../../../shared/tool.ts';
import type { Invocation } from '../../../invoke/invoke.ts';
import { FILE_NAME, type Upload } from './event.ts';

/** The conversion that a public event requests. */
interface DirectRequest {
  readonly source: string;
  readonly format: Format;
  readonly outputName: OutputName;
  readonly options: Readonly<Record<string, unknown>>;
  /** Names of the options that were given. */
  readonly optionNames: readonly string[];
  /** Names of options that were accepted but have no effect on this output. */
  readonly ignored: readonly string[];
  readonly upload: Upload | undefined;
}

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
 * Reads a public event.
 * @throws ConversionError with one sentence for each mistake and the code of the first.
 */
export function readEvent(tool: Tool, event: unknown): DirectRequest {
  const issues = createIssues();
  const { add, attempt, throwAll } = issues;
  const fields = isRecord(event) ? event : {};
  if (fields.version !== 1) add(fieldError('version', 'must be the number 1', fields.version));
  for (const name of Object.keys(fields)) {
    if (!FIELDS.includes(name)) {
      add(unknownFieldError(name, FIELDS));
    }
  }
  const source = attempt(() => readSourceUrl(text(fields, 'infile')), 'infile');
  const output = attempt(() => readOutputName(text(fields, 'outfile')), 'outfile');
  const format = output && attempt(() => checkFormat(tool, output.format, output.outputName));
  const named = readParameters(fields.options, issues);
  attempt(() =>
    checkOrder(
      named,
      tool,
      (args) => `but an object does not preserve it. Send both in the field '_args': "${args}".`,
    ),
  );
  const args =
    attempt(() => readArgs(fields._args === undefined ? '' : text(fields, '_args'), tool), '_args') ?? [];
  // Options in `_args` come after the others.
  const parameters = [...named, ...args];
  const read = readOptions(tool, parameters, format);
  read.issues.forEach(add);
  const upload = attempt(() => readUpload(fields.upload, output?.outputName), 'upload');
  if (isRecord(fields.upload)) {
    const unknown = Object.keys(fields.upload).filter((name) => !UPLOAD_FIELDS.includes(name));
    for (const name of unknown) add(unknownFieldError(`upload.${name}`, UPLOAD_FIELDS));
  }
  throwAll();
  return {
    source: source!,
    ...output!,
    options: read.options,
    optionNames: parameters.map(({ name }) => name),
    ignored: read.ignored,
    upload,
  };
}

function text(fields: Readonly<Record<string, unknown>>, name: string): string {
  const value = fields[name];
  if (value === undefined || value === '') {
    throw new ConversionError('MISSING_PARAMETER', `Field '${name}' is missing.`);
  }
  if (typeof value !== 'string') throw fieldError(name, 'must be a string', value);
  return value.trim();
}

function readParameters(options: unknown, { add }: Issues): Parameter[] {
  if (options === undefined) return [];
  if (!isRecord(options)) {
    add(fieldError('options', "must be an object such as {'-r': 150}", options));
    return [];
  }
  return pairsOf(options, (name, rule, value) => add(fieldError(`options.${name}`, rule, value)));
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
