import type { SandboxMode } from '../../engines/worker/sandbox.ts';
import { textSetting } from './environment.ts';

/** Reads SANDBOX: whether engines may start where the kernel cannot filter system calls; see `SandboxMode`. */
export function sandboxSetting(absent: SandboxMode): SandboxMode {
  const value = textSetting('SANDBOX', absent);
  if (value === 'required' || value === 'best-effort') return value;
  throw new Error(`Setting SANDBOX must be 'required' or 'best-effort', got '${value}'.`);
}
