import {
  type ConversionRequest,
  type QueryOrigin,
  readRequest,
  requestFor,
} from '../../conversion/request.ts';
import { accountOfIp, DEMO_ACCOUNT } from '../../platform/accounts.ts';
import type { Invoke } from '../../platform/invoke.ts';
import type { CallLimits, Limiter } from '../../platform/limits.ts';
import { DEMO_PREFIX, type Storage } from '../../platform/storage.ts';
import { ConversionError } from '../../shared/errors.ts';
import { FORMATS } from '../../shared/formats.ts';
import { describe, type Log } from '../../shared/log.ts';
import type { Parameter } from '../../shared/options/option.ts';
import type { DemoSettings } from '../../shared/settings/service.ts';
import { HOUR } from '../../shared/time.ts';
import type { ConversionLimits, Tool } from '../../shared/tool.ts';
import { toolForSource } from '../auto.ts';
import { type CallFacts, failureOf, type Progress, type Trace } from '../call.ts';
import { invokeTool } from '../invoke.ts';
import { takeTurn } from '../turn.ts';
import type { KeylessLimit } from './admit.ts';

export interface DemoDependencies {
  /** Demo mode is off if absent. */
  readonly demo?: DemoSettings | undefined;
  readonly tools: readonly Tool[];
  readonly limiter: Limiter;
  readonly limits: ConversionLimits;
  readonly storage: Storage;
  readonly invoke: Invoke;
  readonly log: Log;
  /** Absent where callers do not share the process that reads their requests. */
  readonly keyless?: KeylessLimit;
}

interface DemoCall {
  readonly http: QueryOrigin & {
    readonly query: readonly Parameter[];
    readonly ip?: string | undefined;
  };
  readonly trace: Trace;
  readonly signal: AbortSignal;
}

/** Limits of one demo conversion. */
export const DEMO_LIMITS = { sourceBytes: 5_000_000, conversionTime: 10_000 } as const;

const TEXT = 'DEMO';
/** How the watermark is drawn into the first page of a PDF, and into an image. */
const WATERMARKS = {
  pdf: { app: 'pdftools', '-f': '1', '-l': '1' },
  image: {
    app: 'imageproc',
    '-frame': '0',
    '-resize': '1024x1024>',
    '-gravity': 'Center',
    '-font': 'Helvetica-Bold',
    '-pointsize': '96',
    '-fill': 'rgba(200,0,0,0.6)',
    '-stroke': 'rgba(255,255,255,0.6)',
    '-annotate': TEXT,
  },
} as const;

/**
 * Runs a demo conversion and returns the URL of its result, or none if anything fails. The caller's own result stays
 * private: the URL is that of a second conversion, which keeps the first page of the result and draws the watermark.
 * None of the caller's options reach it.
 */
export async function convertDemo(
  { http, trace, signal }: DemoCall,
  dependencies: DemoDependencies,
): Promise<{ readonly url?: string | undefined; readonly facts: CallFacts }> {
  const { demo, tools, limiter, limits, storage, log, keyless } = dependencies;
  if (!demo) return { facts: { code: 'INVALID_KEY' } };
  if (keyless?.admits(http.ip) === false) return { facts: { code: 'RATE_LIMITED', isDemo: true } };
  keyless?.count(http.ip);
  const account = accountOfIp(http.ip);
  await takeTurn(account);
  const end = performance.now() + DEMO_LIMITS.conversionTime;
  const sourceBytes = Math.min(limits.sourceBytes, DEMO_LIMITS.sourceBytes);
  const context = { account, trace, parent: DEMO_PREFIX };
  let progress: Progress = {};
  let release = async () => {};

  const run = async (request: ConversionRequest): Promise<string> => {
    const conversionTime = Math.max(1, Math.min(limits.conversionTime, end - performance.now()));
    const tight = { ...dependencies, limits: { ...limits, sourceBytes, conversionTime } };
    const result = await invokeTool(request, context, tight, signal);
    progress = { ...progress, result };
    if (!result.ok) throw ConversionError.fromReport(result.error);
    return storage.url(result.objectKeys[0] ?? '');
  };

  try {
    let request = readRequest(http.query, tools, { unordered: http.unordered });
    progress = { request };
    const watermarked = watermarkRequest(request, tools);
    const admitted = await admitDemo(http.ip, demo, limiter);
    if (!admitted) return { facts: { ...progress, code: 'RATE_LIMITED', isDemo: true } };
    release = admitted;
    if (request.choices) {
      const source = { url: request.source };
      const chosen = await toolForSource(request, source, { account, trace, signal }, dependencies);
      request = requestFor(request.choices, chosen);
      progress = { request };
    }
    const url = await run({ ...watermarked, source: await run(request) });
    return { url, facts: { ...progress, code: 'OK', isDemo: true } };
  } catch (thrown) {
    const { code } = failureOf(thrown, trace, log, signal);
    return { facts: { ...progress, code, isDemo: true } };
  } finally {
    await release().catch((thrown: unknown) =>
      log('demo not released', { cause: describe(thrown) }, 'error'),
    );
  }
}

/**
 * Returns the request that draws the watermark onto the first page of a result.
 * @throws ConversionError `UNSUPPORTED_CONVERSION` for a result that cannot have one.
 */
function watermarkRequest(
  { format, outputName, source, tool }: ConversionRequest,
  tools: readonly Tool[],
): ConversionRequest {
  const kind = format === 'pdf' ? 'pdf' : FORMATS[format].maxSide !== undefined ? 'image' : undefined;
  if (outputName.kind !== 'one' || !kind)
    throw new ConversionError(
      'UNSUPPORTED_CONVERSION',
      `Demo mode does not support ${outputName.kind === 'one' ? format : 'multi-file'} output from ${tool.name}.`,
    );
  const query = { infile: source, outfile: outputName.name, ...WATERMARKS[kind] };
  const pairs = Object.entries(query).map(([name, value]) => ({ name, value }));
  const request = readRequest(pairs, tools, { isObject: true });
  // This option has no name for callers.
  return kind === 'pdf' ? { ...request, options: { ...request.options, watermark: TEXT } } : request;
}

/**
 * Counts a demo conversion if the limits of the IP address and of the deployment allow it. Returns what ends it, or
 * nothing if they do not.
 */
async function admitDemo(
  ip: string | undefined,
  { perAddress, perHour, concurrent }: DemoSettings,
  limiter: Limiter,
): Promise<(() => Promise<void>) | undefined> {
  const expires = Date.now() + 2 * DEMO_LIMITS.conversionTime;
  const count = (account: string, limits: CallLimits) =>
    limiter.admit({ account, limits, shortWindow: HOUR, expires });
  // The total is counted first, because each counted IP address is stored.
  const all = await count(DEMO_ACCOUNT, { perShortWindow: perHour, concurrent });
  if (!all.admitted) return undefined;
  const own = await count(accountOfIp(ip), { perShortWindow: perAddress });
  if (own.admitted)
    return () => (concurrent === undefined ? Promise.resolve() : limiter.release(all.ticket, 'none'));
  await limiter.release(all.ticket, 'all');
  return undefined;
}
