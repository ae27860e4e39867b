import { containsApiKey } from '../platform/keys/api-key.ts';
import { ConversionError } from '../shared/errors.ts';
import { readArgs } from '../shared/options/args.ts';
import { checkFormat, readSourceUrl } from '../shared/options/common.ts';
import { createIssues } from '../shared/options/issues.ts';
import { type Given, type Parameter, quote } from '../shared/options/parameters.ts';
import { readOptions, repeated } from '../shared/options/read-options.ts';
import { suggest } from '../shared/options/suggest.ts';
import { type OutputName, readOutputName } from '../shared/output-name.ts';
import type { Format, Tool } from '../shared/tool.ts';

/** The conversion that a query requests. */
export interface ConversionRequest {
  readonly tool: Tool;
  /** Absolute, normalized http or https URL. */
  readonly source: string;
  readonly format: Format;
  readonly outputName: OutputName;
  readonly options: Readonly<Record<string, unknown>>;
  /** Names of the options that were given. */
  readonly given: readonly string[];
  /** Those that were accepted but have no effect on this output. */
  readonly ignored: readonly string[];
}

/** Maximum number of pairs in a query, including those of an unencoded `infile`. */
const MAX_PAIRS = 500;
const COMMON = ['apikey', 'app', 'infile', 'outfile', '_args'];

/** How a query reached the service. */
export interface QueryOrigin {
  /** Whether the values of each name were passed together, so that the order of repeated names among others is lost. */
  readonly grouped?: boolean | undefined;
}

/**
 * Reads a query into a conversion request.
 * @throws ConversionError with one sentence for each mistake and the code of the first.
 */
export function readRequest(
  query: readonly Given[],
  tools: readonly Tool[],
  { grouped = false }: QueryOrigin = {},
): ConversionRequest {
  if (query.length > MAX_PAIRS) {
    const message = `A request may have at most ${MAX_PAIRS} query parameters, got ${query.length}.`;
    throw new ConversionError('BAD_PARAMETER', message);
  }
  const { add, attempt, throwAll } = createIssues();
  const { pairs, url } = splitUrl(query, tools);
  const tool = attempt(() => readTool(pairs, tools));
  const source = attempt(() => readSourceUrl(url ?? required(pairs, 'infile')));
  const output = attempt(() => readOutputName(required(pairs, 'outfile')));
  const format = tool && output && attempt(() => checkFormat(tool, output.format, output.outputName));

  const named = pairs.filter(({ name }) => !COMMON.includes(name));
  const args = tool && attempt(() => readArgs(optional(pairs, '_args') ?? '', tool));
  // What `_args` contains comes after the others.
  const rest = [...named, ...(args ?? [])];
  const read = tool && readOptions(tool, rest, format);
  read?.issues.forEach(add);
  if (tool && grouped) attempt(() => checkOrder(named, tool));
  throwAll();
  const given = rest.map(({ name }) => name);
  return { tool: tool!, source: source!, ...output!, options: read!.options, given, ignored: read!.ignored };
}

/**
 * Reassembles an `infile` that was not encoded. Callers paste `infile=https://x/y?a=1&b=2` unchanged, so
 * pairs that are not a parameter of any tool and do not start with a hyphen belong to its query.
 */
function splitUrl(query: readonly Given[], tools: readonly Tool[]): { pairs: Given[]; url?: string } {
  const infiles = query.filter(({ name }) => name === 'infile');
  const infile = infiles[0];
  if (infiles.length !== 1 || !infile?.value.includes('?')) return { pairs: [...query] };

  const parameters = tools.flatMap((tool) => Object.values(tool.parameters));
  const ours = new Set([...COMMON, ...parameters.flatMap(({ names }) => names)]);
  const unencoded = query.filter(
    // A key under a misspelled name must not be sent to the source.
    ({ name, value }) => !ours.has(name) && !name.startsWith('-') && !containsApiKey(`${name}=${value}`),
  );
  const encoded = unencoded.map(
    ({ name, value }) => `&${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
  );
  return {
    pairs: query.filter((pair) => !unencoded.includes(pair)),
    url: infile.value + encoded.join(''),
  };
}

/** @throws ConversionError `BAD_PARAMETER` if the result depends on the order of options, which is not known. */
function checkOrder(pairs: readonly Given[], tool: Tool): void {
  for (const { order, readers } of Object.values(tool.parameters)) {
    const [first, second] = order && readers ? namesWithPlace(pairs, order.settings, readers) : [];
    if (first === undefined || second === undefined) continue;
    throw new ConversionError(
      'BAD_PARAMETER',
      `The order of ${quote(first)} and ${quote(second)} matters, but the gateway does not pass it on. Send them as on a command line in one parameter: _args=${first} … ${second} …`,
    );
  }
}

/** Returns the names of which the place matters: operators, and settings that are given more than once. */
function namesWithPlace(
  pairs: readonly Given[],
  settings: ReadonlySet<string>,
  readers: Readonly<Record<string, Parameter<unknown>>>,
): string[] {
  const ours = new Set(Object.values(readers).flatMap(({ names }) => names));
  const names = pairs.map(({ name }) => name).filter((name) => ours.has(name));
  const isRepeated = (name: string) => names.indexOf(name) < names.lastIndexOf(name);
  return [...new Set(names)].filter((name) => !settings.has(name) || isRepeated(name));
}

function optional(pairs: readonly Given[], name: string): string | undefined {
  const given = pairs.filter((pair) => pair.name === name);
  if (given.length > 1) throw repeated(given);
  return given[0]?.value.trim();
}

function required(pairs: readonly Given[], name: string): string {
  const value = optional(pairs, name);
  if (!value) throw new ConversionError('MISSING_PARAMETER', `Parameter '${name}' is missing.`);
  return value;
}

function readTool(pairs: readonly Given[], tools: readonly Tool[]): Tool {
  const app = required(pairs, 'app');
  const tool = tools.find(({ name }) => name === app);
  if (tool) return tool;
  const names = tools.map(({ name }) => name);
  const guess = suggest(app, names);
  const hint = guess === undefined ? '' : ` Did you mean '${guess}'?`;
  throw new ConversionError(
    'UNKNOWN_APP',
    `Parameter 'app' must be one of ${names.join(', ')}, got ${quote(app)}.${hint}`,
  );
}
