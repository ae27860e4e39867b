import { textSetting } from './environment.ts';

/**
 * With `required`, engines do not start where the kernel cannot filter their system calls, nor does Chromium without
 * its own sandbox, except as root. With `best-effort`, they start with whatever the kernel provides, which on Lambda
 * is nothing.
 */
export type SandboxMode = 'required' | 'best-effort';

/** Reads SANDBOX: whether engines may start where the kernel cannot filter system calls; see `SandboxMode`. */
export function sandboxSetting(absent: SandboxMode): SandboxMode {
  const value = textSetting('SANDBOX', absent);
  if (value === 'required' || value === 'best-effort') return value;
  throw new Error(`Setting SANDBOX must be 'required' or 'best-effort', got '${value}'.`);
}
