import type { Log } from '../log.ts';
import { findSandboxGaps, type SandboxMode } from '../worker/sandbox.ts';
import { logMetric } from './metric.ts';

/** How much of the sandbox holds around the engines of a function. */
export type SandboxState = 'full' | 'files open' | 'none';

/**
 * Finds out what this kernel provides of the engines' sandbox. Logs it, and counts it in a metric, once where it is incomplete.
 * @throws Error where the operator requires a filter of system calls and the kernel allows none.
 */
export function reportSandbox(log: Log, tool: string, layers: string, mode: SandboxMode): SandboxState {
  const gaps = findSandboxGaps(layers);
  if (!gaps.files && !gaps.calls) return 'full';
  const state = gaps.calls ? 'none' : 'files open';
  log('sandbox incomplete', { level: 'warn', tool, sandbox: state, mode });
  logMetric(log, 'SandboxIncomplete', tool);
  if (gaps.calls && mode === 'required') {
    throw new Error('The kernel allows no system call filter, and SANDBOX is required.');
  }
  return state;
}
