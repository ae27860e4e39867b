import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { layerPaths, SYSTEM } from '../../worker/sandbox.ts';

/** Determines the sandbox around Chromium. */
export interface SandboxOptions {
  readonly layers: string;
  /** Private directory of the browser. */
  readonly home: string;
  /** The only TCP ports that the browser may connect to, if the kernel supports that (Linux 6.7). */
  readonly ports: readonly number[];
  /** Whether the browser may create namespaces, which its own sandbox needs. */
  readonly namespaces: boolean;
}

/** System files that Chromium reads, in addition to those that every engine reads. */
const PROCESSORS = '/sys/devices/system/cpu';

/**
 * Returns the command that starts a program with the sandbox of the browser: if the kernel supports it, with
 * no files except the browser's layers and home, no other program, and no network but TCP to `ports`.
 */
export function sandboxedCommand(
  { layers, home, ports, namespaces }: SandboxOptions,
  program: string,
  readable: readonly string[] = [],
): readonly [command: string, ...args: string[]] {
  const own = ['chromium', 'fonts'].flatMap((name) => layerPaths(resolve(layers, name)));
  return [
    join(layers, 'chromium/enter'),
    ...(namespaces ? ['--namespaces'] : []),
    ports.join(','),
    home,
    ...SYSTEM,
    PROCESSORS,
    ...own,
    ...readable,
    '--',
    realpathSync(program),
  ];
}
