import { mkdir } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { createHandler } from '../../../conversion/handler.ts';
import { createDecoder } from '../../../engines/decode/decoder.ts';
import {
  listProcesses,
  ownMemory,
  processTree,
  readProcess,
  readStat,
} from '../../../engines/worker/linux/proc.ts';
import { EngineState, type EngineStatus } from '../../../engines/worker/observer.ts';
import { findSandboxGaps } from '../../../engines/worker/sandbox.ts';
import { createEgressGuard } from '../../../shared/egress/guard.ts';
import { ConversionError } from '../../../shared/errors.ts';
import { createLog, describe, type Log } from '../../../shared/log.ts';
import { numberSetting } from '../../../shared/settings/environment.ts';
import { createDownload, createReadFacts, createReadValidators } from '../../../shared/source/download.ts';
import { withAnySignal } from '../../../shared/time.ts';
import { CONVERSION_LIMITS, type CreateEngine, type Engine, type Tool } from '../../../shared/tool.ts';
import type { Invocation, InvocationResult, Invoke } from '../../invoke.ts';
import { readEnvironment, type ToolEnvironment } from '../environment.ts';
import { createS3Put } from '../post-form.ts';
import type { ToolEvent, ToolResult } from './direct/event.ts';
import { isInvocation, orReceive, runDirect } from './direct/run.ts';
import { inflateLayers } from './inflate-layers.ts';
import { conversionMetrics, withCallMetrics } from './metrics.ts';

/** The part of Lambda's context that a tool reads. */
interface Context {
  getRemainingTimeInMillis(): number;
  /** Ends with the version or alias that the caller named. */
  readonly invokedFunctionArn: string;
  readonly awsRequestId: string;
  /** Set for functions with tenant isolation. */
  readonly tenantId?: string;
}

/** A request to check whether the engine works, without a conversion. */
interface HealthCheck {
  readonly health: true;
}

/** Handles the router's events and public events. */
type ToolHandler = (
  event: Invocation | HealthCheck | ToolEvent,
  context: Context,
) => Promise<InvocationResult | ToolResult | { readonly status: EngineStatus }>;

/**
 * How long after the process starts Lambda's init phase is used, in milliseconds. After 10 s Lambda would kill the
 * process and start it again, at the caller's cost.
 */
const INIT_TIME = 8000;
/** How long a preparation or a health check waits for the engine, in milliseconds. */
const WARM_TIME = 5000;
/**
 * Time before Lambda's own timeout at which a conversion is aborted, in milliseconds, so that the caller gets a
 * response.
 */
const RESERVE = 5000;

/**
 * Creates the Lambda handler of a tool. Before the first event, it inflates the files that the engine needs and
 * starts the engine. If that takes longer than the init phase, the first event waits for the rest.
 */
export async function createToolHandler<T extends Tool>(
  tool: T,
  createEngine: CreateEngine<T>,
): Promise<ToolHandler> {
  const log = createLog((line) => process.stdout.write(`${line}\n`));
  const prepared = prepare(tool, createEngine, log);
  await Promise.race([prepared, sleep(Math.max(0, INIT_TIME - 1000 * process.uptime()))]);
  prepared.catch((thrown: unknown) => {
    log('tool not prepared', { tool: tool.name, cause: describe(thrown) }, 'error');
    // Lambda starts a new environment.
    process.exit(1);
  });
  return async (event, context) => (await prepared)(event, context);
}

async function prepare<T extends Tool>(
  tool: T,
  createEngine: CreateEngine<T>,
  log: Log,
): Promise<ToolHandler> {
  const { layers, whole } = await inflateLayers('/opt', '/tmp/layers');
  // Not next to the layers, because engines may write here.
  const temporary = '/tmp/conversions';
  await mkdir(temporary, { recursive: true, mode: 0o700 });
  // No exceptions: on Lambda, no setting can make a private IP address reachable.
  const environment = readEnvironment<ToolEnvironment>();
  const { metricsNamespace: metrics } = environment;
  const egress = createEgressGuard({ ownHosts: environment.ownHosts });
  const sandboxState = reportSandbox(log, tool, layers);
  const state = new EngineState();
  const workers = {
    layers,
    // Lambda does not allow a system call filter, so no engine would start with `required`.
    sandbox: 'best-effort' as const,
    code: ['/var/task', '/opt'],
    temporary,
    size: availableParallelism(),
    singleAccount: environment.isolated,
  };
  const { decode } = createDecoder(workers);
  const download = createDownload(egress, decode);
  const engine = createEngine({ ...workers, observer: state, egress, download });
  const memory = numberSetting('AWS_LAMBDA_FUNCTION_MEMORY_SIZE', 3008, { min: 128, max: 10_240 });
  let conversions = 0;
  const coldStarts = () => Number(conversions === 1);
  const convert = createHandler(tool, engine, {
    download,
    readValidators: createReadValidators(egress),
    readFacts: createReadFacts(egress),
    put: orReceive(createS3Put(environment.resultsUrl)),
    temporary,
    log: (event, fields, level) => log(event, { ...fields, ...sandboxState() }, level),
    conversions: conversionMetrics(log, metrics, coldStarts),
  });
  const handle: Invoke = async (invocation, signal) => {
    conversions += 1;
    const result = await withMemoryGuard(memory, signal, (guarded) => convert(invocation, guarded));
    return {
      ...result,
      ...(result.measured && { measured: { ...result.measured, coldStarts: coldStarts() } }),
    };
  };
  const warm = () => warmEngine(engine, log, WARM_TIME);
  await Promise.all([whole, warm()]);

  const direct = {
    tool,
    handle,
    egress,
    log: withCallMetrics(log, metrics),
    limits: { ...CONVERSION_LIMITS, ...environment.conversionLimits },
  };
  return async (event, context) => {
    if (isHealthCheck(event)) {
      // Without this, a failed engine would stay down in an environment that serves only health checks.
      if (state.status === 'down') await Promise.race([state.restart(), sleep(WARM_TIME)]);
      if (state.status === 'starting') await warm();
      return { status: state.status };
    }
    const remaining = context.getRemainingTimeInMillis() - RESERVE;
    const signal = AbortSignal.timeout(Math.max(1, remaining));
    if (isFromRouter(context) && isInvocation(tool, event)) return handle(event, signal);
    const caller = { account: context.tenantId ?? 'direct', signal, requestId: context.awsRequestId };
    return runDirect(event, caller, direct);
  };
}

/**
 * Whether the caller named a numeric version, which only the router may invoke. Everyone else invokes the alias, with
 * public events. So a state machine that passes on its users' JSON does not give them the router's rights.
 */
function isFromRouter({ invokedFunctionArn }: Context): boolean {
  return /:function:[^:]+:\d+$/.test(invokedFunctionArn);
}

function isHealthCheck(event: unknown): event is HealthCheck {
  return typeof event === 'object' && event !== null && 'health' in event && event.health === true;
}

/** Starts an engine and waits up to `time` milliseconds for it. Logs why it could not be started. */
export async function warmEngine(engine: Pick<Engine<Tool>, 'warm'>, log: Log, time: number): Promise<void> {
  const started = engine.warm?.().catch((error: unknown) => {
    log('engine not started', { cause: describe(error) }, 'error');
  });
  await Promise.race([started, sleep(time)]);
}

/** Minimum and maximum milliseconds between two memory checks. */
const [MIN_INTERVAL, MAX_INTERVAL] = [20, 250];
/**
 * Maximum MiB that a page's script can allocate per millisecond. The less memory is left, the sooner the next check.
 */
const MAX_ALLOCATION_RATE = 4;
/**
 * Fraction of the function's memory above which a conversion fails. At 100 %, Lambda would kill the whole
 * environment.
 */
const MEMORY_FRACTION = 0.9;

/** Runs work with a signal that also aborts when this process and its descendants approach `limit` MiB. */
export async function withMemoryGuard<Value>(
  limit: number,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Promise<Value>,
): Promise<Value> {
  const guard = new AbortController();
  const look = () => {
    const left = MEMORY_FRACTION * limit - usedMemory(MEMORY_FRACTION * limit);
    if (left < 0) return guard.abort(memoryError());
    timer = setTimeout(look, Math.min(MAX_INTERVAL, Math.max(MIN_INTERVAL, left / MAX_ALLOCATION_RATE)));
  };
  let timer = setTimeout(look, MIN_INTERVAL);
  try {
    return await withAnySignal([signal, guard.signal], work);
  } finally {
    clearTimeout(timer);
  }
}

/**
 * Returns the MiB in use. Resident memory is cheap to read but counts shared pages once per process, so it is
 * returned only while it is far below the limit.
 */
function usedMemory(limit: number): number {
  const pids = processTree(process.pid);
  const resident = pids.reduce((sum, pid) => sum + readStat(pid).memory, 0);
  return limit - resident > MAX_INTERVAL * MAX_ALLOCATION_RATE ? resident : ownMemory(pids);
}

function memoryError(): ConversionError {
  return new ConversionError('CONVERSION_FAILED', 'The conversion exceeded its memory limit.');
}

/** The parts of the sandbox that protect the engines of a function. */
type SandboxState = 'full' | 'files open' | 'none';

/**
 * Detects which parts of the engines' sandbox this kernel provides. Logs once if some are missing, as always on Lambda.
 * Returns fields about them for all later log lines.
 */
function reportSandbox(
  log: Log,
  { name, sizing }: Tool,
  layers: string,
): () => Readonly<Record<string, unknown>> {
  // Chromium has its own sandbox, and detects which features the kernel allows.
  if (!sizing.layers.includes('sandbox')) return browserState;
  const gaps = findSandboxGaps(layers);
  const state: SandboxState = gaps.calls ? 'none' : gaps.files ? 'files open' : 'full';
  if (state !== 'full') {
    log('sandbox incomplete', { tool: name, sandbox: state, landlock: gaps.landlock }, 'warn');
  }
  return () => ({ sandbox: state });
}

/** Returns whether Chromium's sandbox is active, from the command lines of its processes. */
function browserState(): Readonly<Record<string, unknown>> {
  // Chromium joins the arguments of its child processes with spaces.
  const commands = listProcesses().map((pid) => readProcess(pid, 'cmdline'));
  const browser = commands.filter((command) => /^[^\0 ]*\/chromium[\0 ]/.test(command));
  if (browser.length === 0) return {};
  const open = browser.some((command) => /[\0 ]--no-sandbox\b/.test(command));
  return { browserProcesses: browser.length, sandbox: open ? 'none' : 'full' };
}
