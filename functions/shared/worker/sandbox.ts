import { spawnSync } from 'node:child_process';
import { realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { textSetting } from '../settings/environment.ts';
import type { EngineDependencies } from '../tool.ts';
import { fontEnvironment } from './fonts.ts';
import type { WorkerCommand } from './pool.ts';

/** What Node and the native parts of its packages read of a system. None of it is secret. */
const SYSTEM = [
  ...['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/etc/ld.so.cache'],
  ...['/usr/share/zoneinfo', '/etc/localtime', '/proc/self', '/proc/meminfo', '/proc/cpuinfo'],
];

/** Node exits when it may not read a file that the system's OpenSSL configuration includes, and engines need none. */
const NO_TLS = ['--openssl-config=/dev/null'];

/**
 * `required`: engines do not start where the kernel cannot filter their system calls. `best-effort`: they start with whatever
 * the kernel provides, which on Lambda is nothing.
 */
export type SandboxMode = 'required' | 'best-effort';

/** Parts of the sandbox that this kernel does not provide. */
export interface SandboxGaps {
  /** Engines can open files other than those of their conversion: there is no Landlock. */
  readonly files: boolean;
  /** Engines can make any system call: there is no filter. */
  readonly calls: boolean;
}

/**
 * Prepares a Node that is in a sandbox before it runs a script: no sockets, no other program or process and, where the kernel has
 * Landlock, no files but our code, fonts and its own directory.
 */
export function sandboxedNode(
  { layers, code, sandbox }: Pick<EngineDependencies, 'layers' | 'code' | 'sandbox'>,
  args: readonly string[],
): (home: string) => WorkerCommand {
  // Resolved once, before any engine has run: an engine that was taken over could redirect links.
  const enter = realpathSync(join(layers, 'sandbox/enter'));
  const readable = [...SYSTEM, ...code, ...layerPaths(resolve(layers, 'fonts'))];
  return (home) => ({
    command: enter,
    args: [home, home, ...readable, '--', process.execPath, ...NO_TLS, ...args],
    environment: { ...nodeEnvironment(), ...sandboxEnvironment(sandbox), ...fontEnvironment(layers, home) },
  });
}

/** The variable by which the launcher and LibreOffice's host learn whether an incomplete sandbox will do. */
export function sandboxEnvironment(mode: SandboxMode = 'required'): Readonly<Record<string, string>> {
  return { SANDBOX: mode };
}

/** The libraries that Node itself was started with: on Lambda it may not start without them. */
export function nodeEnvironment(): Readonly<Record<string, string>> {
  const libraries = textSetting('LD_LIBRARY_PATH', undefined);
  return libraries === undefined ? {} : { LD_LIBRARY_PATH: libraries };
}

/** Tries out what this kernel provides of the sandbox, in a process that ends at once. */
export function findSandboxGaps(layers: string): SandboxGaps {
  const enter = realpathSync(join(layers, 'sandbox/enter'));
  const { stdout } = spawnSync(enter, ['--probe'], { env: sandboxEnvironment('best-effort') });
  const missing = Number.parseInt(stdout.toString() || '3', 10);
  return { files: (missing & 1) !== 0, calls: (missing & 2) !== 0 };
}

/** A layer's folder, and the folder that its files link to where some of them had to be inflated elsewhere. */
export function layerPaths(layer: string): string[] {
  return [layer, dirname(realpathSync(join(layer, 'manifest.json')))];
}
