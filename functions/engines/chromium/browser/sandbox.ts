import { realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { layerPaths, SYSTEM } from '../../worker/sandbox.ts';

/** The facts that the sandbox around Chromium depends on. */
interface SandboxOptions {
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
 * Returns the command that starts a program in the browser's sandbox. Where the kernel supports it, the program can
 * open only the browser's layers and home, start no other program, and use no network except TCP to `ports`.
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
