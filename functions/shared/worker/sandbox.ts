import { realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { EngineDependencies } from '../tool.ts';
import { fontEnvironment } from './fonts.ts';
import type { WorkerCommand } from './pool.ts';

/** What Node and the native parts of its packages read of a system; nothing in it is worth stealing. */
const SYSTEM = [
  ...['/lib', '/lib64', '/usr/lib', '/usr/lib64', '/etc/ld.so.cache'],
  ...['/usr/share/zoneinfo', '/etc/localtime', '/proc/self', '/proc/meminfo', '/proc/cpuinfo'],
];

/** Node ends where it may not read what a system's configuration of OpenSSL includes, and an engine needs none. */
const NO_TLS = ['--openssl-config=/dev/null'];

/**
 * Prepares a Node that is shut in before it runs a script: no sockets, no other program, no other process, and, where the
 * kernel has Landlock, no file but our code, fonts, its own directory and, by their names, those of conversions.
 */
export function sandboxedNode(
  { layers, temporary, code }: Pick<EngineDependencies, 'layers' | 'temporary' | 'code'>,
  args: readonly string[],
): (home: string) => WorkerCommand {
  // Found once, before any engine has run: where layers are links, one that was taken over could turn them elsewhere.
  const enter = realpathSync(join(layers, 'sandbox/enter'));
  const readable = [...SYSTEM, ...code, ...layerPaths(resolve(layers, 'fonts'))];
  return (home) => ({
    command: enter,
    args: [home, resolve(temporary), ...readable, '--', process.execPath, ...NO_TLS, ...args],
    environment: fontEnvironment(layers, home),
  });
}

/** A layer's folder, and the one that its files are links to where some of them had to be inflated elsewhere. */
export function layerPaths(layer: string): string[] {
  return [layer, dirname(realpathSync(join(layer, 'manifest.json')))];
}
