import type { ConversionRequest } from '../conversion/request.ts';
import { chooseTool, readersOf } from '../engines/choose-tool.ts';
import type { Invoke } from '../platform/invoke.ts';
import { ConversionError } from '../shared/errors.ts';
import type { SourceFacts } from '../shared/source/file-kind.ts';
import type { ConversionLimits, Tool } from '../shared/tool.ts';
import type { Trace } from './call.ts';

interface Dependencies {
  readonly tools: readonly Tool[];
  readonly invoke: Invoke;
  readonly limits: ConversionLimits;
}

interface Source {
  /** URL that a tool can download. */
  readonly url: string;
  /** Facts about a file that was sent with the call. */
  readonly facts?: SourceFacts | undefined;
}

/**
 * Returns the tool for a request with `app=auto`. The beginning of a source behind a URL is read where sources are
 * downloaded, so that the router opens no connections of its own.
 * @throws ConversionError `UNSUPPORTED_SOURCE` if the kind of the source is not known, or why it cannot be read.
 */
export async function toolForSource(
  request: ConversionRequest,
  { url, facts }: Source,
  context: { readonly account: string; readonly trace: Trace; readonly signal: AbortSignal },
  dependencies: Dependencies,
): Promise<Tool> {
  const { tools } = dependencies;
  const { format, outputName, choices, optionNames } = request;
  const accepting = tools.filter((tool) => !(choices?.get(tool) instanceof ConversionError));
  const found = facts ?? (await readFacts(request, url, context, dependencies));
  const target = { format, isPaged: outputName.kind !== 'one' };
  const tool =
    chooseTool(found, target, accepting) ??
    (optionNames.includes('-append') ? chooseMerger(found, accepting) : undefined) ??
    chooseTool(found, target, tools);
  if (tool) return tool;
  const names = tools.map(({ name }) => name).join(', ');
  const message = `The kind of the source is not known. Name the tool in 'app': ${names}.`;
  throw new ConversionError('UNSUPPORTED_SOURCE', message);
}

/** Returns the tool that has a source converted to a PDF before it appends others, if it accepts the options. */
function chooseMerger(found: SourceFacts, accepting: readonly Tool[]): Tool | undefined {
  return readersOf(found, 'pdf').length > 0 ? accepting.find(({ name }) => name === 'pdftools') : undefined;
}

async function readFacts(
  { format, outputName }: ConversionRequest,
  source: string,
  { account, trace, signal }: Parameters<typeof toolForSource>[2],
  { tools, invoke, limits }: Dependencies,
): Promise<SourceFacts> {
  const result = await invoke(
    {
      requestId: trace.requestId,
      ...(trace.traceparent && { traceparent: trace.traceparent }),
      tool: lightest(tools).name,
      account,
      source,
      format,
      outputName,
      options: {},
      grant: {},
      readsFacts: true,
      limits,
      deadline: Date.now() + limits.conversionTime,
    },
    signal,
  );
  if (!result.ok) throw ConversionError.fromReport(result.error);
  if (!result.facts) throw new Error('A tool returned no facts about a source.');
  return result.facts;
}

/** Returns the tool that downloads sources and has the least memory, which starts fastest on Lambda. */
function lightest(tools: readonly Tool[]): Tool {
  return tools
    .filter(({ source }) => source === 'file')
    .reduce((least, each) => (each.sizing.memory < least.sizing.memory ? each : least));
}
