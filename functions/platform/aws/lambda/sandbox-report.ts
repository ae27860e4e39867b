import { listProcesses, readProcess } from '../../../engines/worker/linux/proc.ts';
import { findSandboxGaps } from '../../../engines/worker/sandbox.ts';
import type { Log } from '../../../shared/log.ts';
import type { Tool } from '../../../shared/tool.ts';
import { metricFacts } from './metrics.ts';

/** The parts of the sandbox that protect the engines of a function. */
type SandboxState = 'full' | 'files open' | 'none';

/**
 * Detects which parts of the engines' sandbox this kernel provides. Logs them once, and counts a metric if some are
 * missing. Returns fields about them for all later log lines.
 */
export function reportSandbox(
  log: Log,
  { name, sizing }: Tool,
  layers: string,
  namespace: string,
): () => Readonly<Record<string, unknown>> {
  // Chromium has its own sandbox, and detects which features the kernel allows.
  if (!sizing.layers.includes('sandbox')) return browserState;
  const gaps = findSandboxGaps(layers);
  const state: SandboxState = gaps.calls ? 'none' : gaps.files ? 'files open' : 'full';
  if (state !== 'full') {
    log('sandbox incomplete', { tool: name, sandbox: state, landlock: gaps.landlock }, 'warn');
    logMetric(log, namespace, 'SandboxIncomplete', name);
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

/**
 * Logs a count that CloudWatch turns into a metric of the tool (Embedded Metric Format), which needs no extra call
 * and no permission.
 */
function logMetric(log: Log, namespace: string, name: string, tool: string): void {
  const metrics = [{ name, unit: 'Count', value: 1 }] as const;
  log('metric', { tool, ...metricFacts(namespace, { dimensions: [['tool']], metrics }) });
}
