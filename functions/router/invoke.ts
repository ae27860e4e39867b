import {
  boundWarnings,
  type Invocation,
  type InvocationResult,
  type Invoke,
  type Measured,
} from '../platform/invoke.ts';
import { createPrefix, folderOf, type Storage, UPLOAD_PREFIX } from '../platform/storage.ts';
import type { ErrorReport } from '../shared/errors.ts';
import { defaultsOf } from '../shared/options/read-options.ts';
import { replaceSources } from '../shared/options/sources.ts';
import { contentTypeOf } from '../shared/output-name.ts';
import { quote } from '../shared/quote.ts';
import { sourceName } from '../shared/source/file.ts';
import { type ConversionLimits, INFILE, pageFile, type SourcePlace, type Tool } from '../shared/tool.ts';
import type { Trace } from './call.ts';
import type { OpenedRequest } from './uploads/call-uploads.ts';

interface InvokeDependencies {
  readonly tools: readonly Tool[];
  readonly storage: Storage;
  readonly invoke: Invoke;
  readonly limits: ConversionLimits;
}

interface InvokeContext {
  readonly account: string;
  readonly trace: Trace;
  /** Prefix of the object keys of the results. */
  readonly parent?: string;
  /** Names of the tools that the caller may use. All if absent. */
  readonly allowed?: readonly string[] | undefined;
  /** See `Invocation`. */
  readonly validate?: Invocation['validate'];
}

/** How long after its deadline a conversion may still store its results, in milliseconds. */
const INVOKE_GRACE = 60_000;

/**
 * Invokes the tool of a request, with a grant to store results under a unique prefix. If it needs other sources as PDFs, they
 * are converted first, and the tool is invoked again. All of that has one deadline.
 * @throws ConversionError if the storage refuses the grant or the tool cannot be reached.
 */
export async function invokeTool(
  request: OpenedRequest,
  context: InvokeContext,
  dependencies: InvokeDependencies,
  signal: AbortSignal,
): Promise<InvocationResult> {
  const deadline = Date.now() + dependencies.limits.conversionTime;
  const run = (one: OpenedRequest, own: InvokeContext) =>
    invokeOnce(one, own, dependencies, { deadline, signal });
  const result = await run(request, context);
  if (result.ok || !result.unconverted) return result;

  const { tools, storage } = dependencies;
  const { validate: _, ...others } = context;
  const { account, parent = `${UPLOAD_PREFIX}${folderOf(account)}/`, allowed } = context;
  const objectKeys: string[] = [];
  const measured = [result.measured];
  const urls = urlsIn(request);
  const converted = new Map<string, string>();
  const warnings: string[] = [];
  try {
    for (const { tool: name, asPages, ...place } of result.unconverted) {
      const key = keyOf(place);
      if (converted.has(key)) continue;
      const url = urls.get(key);
      const tool = tools.find((each) => each.name === name && each.formats.includes('pdf'));
      if (!tool || (allowed && !allowed.includes(name)) || url === undefined) return result;
      const outputName = { kind: 'one', name: 'source.pdf' } as const;
      const plain = { format: 'pdf', outputName, response: 'text', optionNames: [], ignored: [] } as const;
      // A page that was sent must not be opened as one of the service's own.
      const files = tool.source === 'page' && request.sent?.includes(url) ? [pageFile(url)] : undefined;
      const options = { ...defaultsOf(tool.options), ...(asPages && tool.asPages) };
      const own = { ...plain, tool, source: url, options, ...(files && { files }) };
      const one = await run(own, { ...others, parent });
      measured.push(one.measured);
      if (!one.ok) return withMeasured({ ...one, error: namedError(one.error, place, url, name) }, measured);
      objectKeys.push(...one.objectKeys);
      warnings.push(...(one.warnings ?? []).map((each) => `${sourceName({}, new URL(url))}: ${each}`));
      converted.set(key, await storage.url(one.objectKeys[0] ?? ''));
    }
    const pdfs = withSources(request, (url, key) => converted.get(key) ?? url);
    const final = await run(pdfs, others);
    // The sources themselves may change, not the PDFs made of them.
    const { validators } = result;
    const whole = final.ok
      ? { ...final, warnings: boundWarnings([...warnings, ...(final.warnings ?? [])]) }
      : final;
    return withMeasured({ ...whole, ...(validators && { validators }) }, [...measured, final.measured]);
  } finally {
    // A file that cannot be deleted now is deleted when it expires.
    const removed = objectKeys.map((objectKey) => storage.remove({ account, objectKey }).catch(() => {}));
    await Promise.all(removed);
  }
}

/** Returns the error of a source that was to become a PDF, with its name. Options of its tool cannot be given with it. */
function namedError(
  error: ErrorReport,
  { parameter, index }: SourcePlace,
  url: string,
  tool: string,
): ErrorReport {
  const file = quote(sourceName({}, new URL(url)));
  const what = parameter === INFILE ? `The source ${file}` : `The file ${file} for '${parameter}'`;
  const hint = /PASSWORD/.test(error.code) ? ` Convert it with app=${tool} first.` : '';
  const message = `${what} could not be converted to a PDF. ${error.message}${hint}`;
  return { ...error, message, parameter, index };
}

/** Returns a result with the resources of all conversions that it took. */
function withMeasured(
  result: InvocationResult,
  measured: readonly (Measured | undefined)[],
): InvocationResult {
  const all = measured.filter((each) => each !== undefined);
  const sum = (of: (each: Measured) => number) => all.reduce((total, each) => total + of(each), 0);
  const steps = new Set(all.flatMap((each) => Object.keys(each.steps)));
  if (all.length === 0) return result;
  return {
    ...result,
    measured: {
      sourceBytes: sum((each) => each.sourceBytes),
      resultBytes: sum((each) => each.resultBytes),
      pages: sum((each) => each.pages),
      milliseconds: sum((each) => each.milliseconds),
      coldStarts: sum((each) => each.coldStarts ?? 0),
      steps: Object.fromEntries([...steps].map((step) => [step, sum((each) => each.steps[step] ?? 0)])),
      timed: all.flatMap(({ timed = [] }) => timed),
    },
  };
}

function keyOf({ parameter, index }: SourcePlace): string {
  return `${parameter} ${index}`;
}

/** Returns the sources of a request by their places. */
function urlsIn(request: OpenedRequest): ReadonlyMap<string, string> {
  const urls = new Map<string, string>();
  withSources(request, (url, key) => {
    urls.set(key, url);
    return url;
  });
  return urls;
}

/** Replaces sources of a request by their places. The same URL may stand in several that need different files. */
function withSources(request: OpenedRequest, replace: (url: string, key: string) => string): OpenedRequest {
  const { tool, options, source } = request;
  const replaced = replaceSources(tool, options, (url, parameter, index) =>
    replace(url, keyOf({ parameter, index })),
  );
  return { ...request, source: replace(source, keyOf({ parameter: INFILE, index: 0 })), options: replaced };
}

async function invokeOnce(
  { tool, format, outputName, source, files, sent, options }: OpenedRequest,
  { account, trace, parent = '', validate }: InvokeContext,
  { storage, invoke, limits }: InvokeDependencies,
  { deadline, signal }: { readonly deadline: number; readonly signal: AbortSignal },
): Promise<InvocationResult> {
  const { requestId, traceparent } = trace;
  const grant = await storage.grant({
    prefix: `${parent}${createPrefix(account)}`,
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
    ...(sent && { sent }),
    format,
    outputName,
    options,
    grant,
    ...(validate && { validate }),
    limits,
    deadline,
  };
  const result = await invoke(invocation, signal);
  const { prefix } = grant;
  const isOwn = (objectKey: string) => prefix !== undefined && objectKey.startsWith(prefix);
  const isForeign = result.ok && !result.objectKeys.every(isOwn);
  if (isForeign) throw new Error('A tool named an object outside its grant.');
  return result;
}
