import { type CheckPlace, readTarget, refuseBuckets } from '../buckets/places.ts';
import { JOB_PARAMETERS, type JobOptions, readJobOptions } from '../jobs/options.ts';
import { ConversionError } from '../shared/errors.ts';
import type { Format } from '../shared/formats.ts';
import { containsApiKey } from '../shared/log.ts';
import { checkOrder, readArgs, splitWords } from '../shared/options/args.ts';
import { createIssues } from '../shared/options/issues.ts';
import { isBucketUrl, MAX_PARAMETER_LENGTH, type Parameter } from '../shared/options/option.ts';
import { type NamedOptions, readOptions, repeatedError, suggest } from '../shared/options/read-options.ts';
import { readSource, readSourceUrl, sourcesIn, takesSource } from '../shared/options/sources.ts';
import { checkFormat, type OutputName, readOutputName } from '../shared/output-name.ts';
import { quote } from '../shared/quote.ts';
import type { Tool } from '../shared/tool.ts';

/** The conversion that a query requests. */
export interface ConversionRequest extends NamedOptions {
  /** A normalized http or https URL or, for callers who can upload, a `data:` or `s3:` URL or `upload:ID`. */
  readonly source: string;
  readonly format: Format;
  readonly outputName: OutputName;
  readonly options: Readonly<Record<string, unknown>>;
  /** Whether the response contains the URLs of the results, the result itself, or a redirect to it. */
  readonly response: Response;
  /** Whether `infile` contains unencoded parameters and was reassembled. */
  readonly isReassembled?: boolean;
  /** Whether `app=auto`. Before the source is known, the tool is one that accepts the other parameters. */
  readonly isAuto?: boolean;
  /** The request for each tool, or its mistakes, while the tool is not known. */
  readonly choices?: ReadonlyMap<Tool, ConversionRequest | ConversionError>;
  /** Maximum age in seconds of an earlier result that may be used. */
  readonly cache?: number;
  /** Whether the result is deleted once it has been sent. */
  readonly isOnce?: boolean;
  /** Set if the caller does not wait for the result. */
  readonly job?: JobOptions;
  /** The prefix in a bucket that the results are moved to. */
  readonly to?: string;
}

/** Maximum number of parameters of a request, including those in an unencoded `infile`. */
export const MAX_PARAMETERS = 500;
/** Parameters that only signed links have. */
export const LINK_PARAMETERS = ['_key', '_expires', '_signature'] as const;
/** The parameters that every tool has. */
const COMMON = [
  'apikey',
  'app',
  'infile',
  'outfile',
  '_args',
  '_cache',
  '_keep',
  ...LINK_PARAMETERS,
  '_response',
  ...JOB_PARAMETERS,
  '_to',
] as const;
const COMMON_NAMES: ReadonlySet<string> = new Set(COMMON);
export type CommonName = (typeof COMMON)[number];
export const RESPONSES = ['text', 'file', 'redirect'] as const;
type Response = (typeof RESPONSES)[number];

/** How a query reached the service. */
export interface QueryOrigin {
  /** Number of leading pairs whose order is unknown. */
  readonly unordered?: number | undefined;
  /** Whether the pairs are fields of an object, so that none of them can be a part of `infile`. */
  readonly isObject?: boolean;
  /** Whether `infile` can be anything other than an http or https URL. */
  readonly canUpload?: boolean | undefined;
  /** Whether `_async` is 1 by default. */
  readonly isJob?: boolean | undefined;
  /** Checks objects in buckets. None may be used if absent. */
  readonly checkPlace?: CheckPlace;
}

/**
 * Reads a query into a conversion request. With `app=auto`, it must be valid for one of the tools.
 * @throws ConversionError with one sentence for each mistake and the code of the first. If the tool is not known, these are the mistakes
 * for the tool that finds the fewest.
 */
export function readRequest(
  query: readonly Parameter[],
  tools: readonly Tool[],
  origin: QueryOrigin = {},
): ConversionRequest {
  checkLength(query);
  const { unordered = 0, canUpload = false, isJob = false, checkPlace = refuseBuckets } = origin;
  const readInfile = canUpload ? readSource : readSourceUrl;
  const { pairs, url } = origin.isObject ? { pairs: query, url: undefined } : splitUrl(query, tools);
  const [first, later] = [createIssues(), createIssues()];
  const asked = first.attempt(() => readTools(pairs, tools), 'app') ?? [];
  const source = first.attempt(() => readInfile(url ?? required(pairs, 'infile')), 'infile');
  const isInBucket = source !== undefined && isBucketUrl(source);
  if (isInBucket) first.attempt(() => checkPlace(source, 'read', 'infile'));
  const output = first.attempt(() => readOutputName(required(pairs, 'outfile')), 'outfile');
  const response = later.attempt(
    () => readResponse(optional(pairs, '_response') ?? 'text', output?.outputName),
    '_response',
  );
  const cache = later.attempt(() => readCache(optional(pairs, '_cache')), '_cache');
  const isOnce = later.attempt(() => readOnce(optional(pairs, '_keep'), cache), '_keep');
  const job = later.attempt(() =>
    readJobOptions({
      async: optional(pairs, '_async'),
      webhook: optional(pairs, '_webhook'),
      response,
      isJob,
    }),
  );
  const others = { outputName: output?.outputName, response };
  const to = later.attempt(() => readTarget(optional(pairs, '_to'), others, checkPlace), '_to');
  const words = later.attempt(() => splitWords(optional(pairs, '_args') ?? ''), '_args') ?? [];
  const named = pairs.filter(({ name }) => !COMMON_NAMES.has(name));

  const readFor = (tool: Tool | undefined): ConversionRequest => {
    const { add, attempt, throwAll } = createIssues();
    first.all.forEach(add);
    const format = tool && output && attempt(() => checkFormat(tool, output.format, output.outputName));
    later.all.forEach(add);
    const args = tool && attempt(() => readArgs(words, tool), '_args');
    // Options in `_args` come after the others.
    const rest = [...named, ...(args ?? [])];
    checkLength(rest);
    const read = tool && readOptions(tool, rest, format);
    read?.issues.forEach(add);
    const inBuckets = read ? [...sourcesIn(tool, read.options)].filter(([each]) => isBucketUrl(each)) : [];
    for (const [each, option] of inBuckets) attempt(() => checkPlace(each, 'read', option));
    if (cache !== undefined && (to !== undefined || inBuckets.length > 0 || isInBucket)) add(cacheError());
    if (tool && unordered > 0) attempt(() => checkOrder(query.slice(0, unordered).map(restorePlus), tool));
    throwAll();
    return {
      tool: tool!,
      source: source!,
      ...output!,
      response: response!,
      ...(cache !== undefined && { cache }),
      // The service keeps no result that it moves to a bucket.
      ...((isOnce || to !== undefined) && { isOnce: true }),
      ...(to !== undefined && { to }),
      ...(job && { job }),
      ...(pairs.length < query.length && { isReassembled: true }),
      options: read!.options,
      optionNames: rest.map(({ name }) => name),
      ignored: read!.ignored,
    };
  };
  return asked.length > 1 ? readUndecided(asked, readFor) : readFor(asked[0]);
}

/** Reads a request once for each tool that it may be for. */
function readUndecided(
  tools: readonly Tool[],
  readFor: (tool: Tool) => ConversionRequest,
): ConversionRequest {
  const choices = new Map<Tool, ConversionRequest | ConversionError>();
  for (const tool of tools) {
    try {
      choices.set(tool, { ...readFor(tool), isAuto: true });
    } catch (thrown) {
      if (!(thrown instanceof ConversionError)) throw thrown;
      choices.set(tool, thrown);
    }
  }
  const count = (choice: ConversionRequest | ConversionError) =>
    choice instanceof ConversionError ? (choice.issues?.length ?? 1) : 0;
  const best = tools.reduce((most, tool) =>
    count(choices.get(tool)!) < count(choices.get(most)!) ? tool : most,
  );
  return { ...requestFor(choices, best), choices };
}

/** Returns the request for a tool that was chosen. @throws ConversionError with every mistake */
export function requestFor(
  choices: NonNullable<ConversionRequest['choices']>,
  tool: Tool,
): ConversionRequest {
  const choice = choices.get(tool);
  if (!choice || choice instanceof ConversionError) throw choice ?? new Error(`Unknown tool ${tool.name}.`);
  return choice;
}

/**
 * Restores a plus sign that was not encoded, as in `+antialias`. It arrives as a space, which no name begins with.
 */
function restorePlus({ name, value }: Parameter): Parameter {
  return { name: name.replace(/^ /, '+'), value };
}

/** Returns a query with a reassembled `infile` in place of its parts, so that it can be encoded. */
export function withWholeInfile(query: readonly Parameter[], tools: readonly Tool[]): Parameter[] {
  const { pairs, url } = splitUrl(query, tools);
  return pairs.map(({ name, value }) => ({ name, value: name === 'infile' ? (url ?? value) : value }));
}

const namesOf = new WeakMap<readonly Tool[], ReadonlySet<string>>();

/** Returns the names of all parameters and options. */
export function parameterNames(tools: readonly Tool[]): ReadonlySet<string> {
  const options = () => tools.flatMap((tool) => Object.values(tool.options));
  const names = namesOf.get(tools) ?? new Set([...COMMON, ...options().flatMap((each) => each.names)]);
  namesOf.set(tools, names);
  return names;
}

/**
 * Reassembles an `infile` that was not encoded. Callers paste `infile=https://x/y?a=1&b=2` unchanged, so pairs that
 * are not parameters of any tool and do not start with a hyphen belong to its query.
 */
function splitUrl(sent: readonly Parameter[], tools: readonly Tool[]): { pairs: Parameter[]; url?: string } {
  const query = sent.map(restorePlus);
  const infiles = query.filter(({ name }) => name === 'infile');
  const infile = infiles[0];
  if (infiles.length !== 1 || !infile?.value.includes('?')) return { pairs: query };

  const ours = parameterNames(tools);
  const others = query.filter(({ name }) => !ours.has(name) && !name.startsWith('-'));
  // A key under a misspelled name must not be sent to the source.
  const unencoded = others.filter(({ name, value }) => !containsApiKey(`${name}=${value}`));
  const encode = (text: string) => encodeURIComponent(text.toWellFormed());
  const rest = unencoded.map(({ name, value }) => `&${encode(name)}=${encode(value)}`);
  const url = infile.value + rest.join('');
  const parts = new Set(unencoded);
  return { pairs: query.filter((pair) => !parts.has(pair)), url };
}

function readResponse(value: string, outputName: OutputName | undefined): Response {
  const response = RESPONSES.find((known) => known === value);
  if (!response) {
    throw new ConversionError(
      'BAD_PARAMETER',
      `Parameter '_response' must be one of ${RESPONSES.join(', ')}, got ${quote(value)}.`,
    );
  }
  if (response === 'text' || outputName?.kind !== 'numbered') return response;
  throw new ConversionError(
    'BAD_PARAMETER',
    `Parameter '_response=${response}' requires a single file. Use an 'outfile' such as pages.png.zip instead of several files.`,
  );
}

/**
 * Maximum value of `_cache` in seconds. Results are deleted after a day, and their URLs are valid for an hour by
 * default.
 */
export const MAX_CACHE = 82_800;

function readCache(value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  const seconds = /^\d{1,5}$/.test(value) ? Number(value) : 0;
  if (seconds >= 1 && seconds <= MAX_CACHE) return seconds;
  throw new ConversionError(
    'BAD_PARAMETER',
    `Parameter '_cache' must be an integer from 1 to ${MAX_CACHE}, got ${quote(value)}.`,
  );
}

/** Reads `_keep`: whether the result is deleted once it has been sent. */
function readOnce(value: string | undefined, cache: number | undefined): boolean {
  if (value === undefined || value === '1') return false;
  if (value !== '0')
    throw new ConversionError('BAD_PARAMETER', `Parameter '_keep' must be 0 or 1, got ${quote(value)}.`);
  if (cache === undefined) return true;
  throw new ConversionError(
    'BAD_PARAMETER',
    "Parameter '_keep=0' deletes the result, so '_cache' cannot use it again.",
  );
}

function cacheError(): ConversionError {
  const message = "Parameter '_cache' cannot be used with buckets, because changes in them are not noticed.";
  return new ConversionError('BAD_PARAMETER', message, { parameter: '_cache' });
}

function optional(pairs: readonly Parameter[], name: string): string | undefined {
  const own = pairs.filter((pair) => pair.name === name);
  if (own.length > 1) throw repeatedError(own);
  return own[0]?.value.trim();
}

function required(pairs: readonly Parameter[], name: string): string {
  const value = optional(pairs, name);
  if (!value) throw new ConversionError('MISSING_PARAMETER', `Parameter '${name}' is missing.`);
  return value;
}

/** Values that clients of other services with this interface send. */
const ALIASES: Readonly<Record<string, string>> = { ViewAsPDFPaper: 'doc2any' };

/** The value of `app` that chooses the tool by the source. */
export const AUTO = 'auto';

/** Returns the tool that `app` names, or all if it names none. */
function readTools(pairs: readonly Parameter[], tools: readonly Tool[]): readonly Tool[] {
  const app = required(pairs, 'app');
  if (app === AUTO) return tools;
  const tool = tools.find(({ name }) => name === (ALIASES[app] ?? app));
  if (tool) return [tool];
  const names = [...tools.map(({ name }) => name), AUTO];
  const guess = suggest(app, names);
  const hint = guess === undefined ? '' : ` Did you mean '${guess}'?`;
  throw new ConversionError(
    'UNKNOWN_APP',
    `Parameter 'app' must be one of ${names.join(', ')}, got ${quote(app)}.${hint}`,
  );
}

/** @throws ConversionError `BAD_PARAMETER` for too many parameters, or too many characters in them. */
export function checkLength(query: readonly Parameter[]): void {
  if (query.length > MAX_PARAMETERS)
    throw new ConversionError('BAD_PARAMETER', `A request may have at most ${MAX_PARAMETERS} parameters.`);
  const length = query.reduce((sum, { name, value }) => sum + name.length + value.length, 0);
  if (length <= MAX_PARAMETER_LENGTH) return;
  throw new ConversionError(
    'BAD_PARAMETER',
    `The parameters of a request may have at most ${MAX_PARAMETER_LENGTH} characters in total, got ${length}. Send longer values as files in multipart/form-data.`,
  );
}

/** Returns the URL that tools download a bundled source from. */
export type SampleUrl = (name: string) => Promise<string> | string;

const SAMPLE = 'sample:';

/** Returns parameters with URLs in place of `sample:NAME`, in `infile` and in options that name a source. */
export function withSamples(
  parameters: readonly Parameter[],
  { tools, sampleUrl }: { readonly tools: readonly Tool[]; readonly sampleUrl?: SampleUrl | undefined },
): Promise<Parameter[]> {
  const samples = new Set(sampleUrl && tools.map(({ example }) => SAMPLE + example.infile));
  return Promise.all(
    parameters.map(async (parameter) => {
      const { name, value } = parameter;
      if (!samples.has(value) || !takesSource(tools, name)) return parameter;
      return { name, value: await sampleUrl!(value.slice(SAMPLE.length)) };
    }),
  );
}
