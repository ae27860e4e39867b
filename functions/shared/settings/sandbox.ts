/**
 * With `required`, engines do not start where the kernel cannot filter their system calls, nor does Chromium without
 * its own sandbox, except as root. With `best-effort`, they start with whatever the kernel provides, which on Lambda
 * is nothing.
 */
export type SandboxMode = 'required' | 'best-effort';
