import { spawnSync } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { SandboxMode } from '../../shared/settings/service.ts';
import type { EngineDependencies, Layer } from '../../shared/tool.ts';
import { compileCache, nodeEnvironment } from './node-environment.ts';
import { type WorkerCommand, WorkerPool, type WorkerPoolOptions } from './pool.ts';

/** System files that Node and the native parts of its packages read. None of them is secret. */
export const SYSTEM: readonly string[] = [
  '/lib',
  '/lib64',
  '/usr/lib',
  '/usr/lib64',
  '/etc/ld.so.cache',
  '/usr/share/zoneinfo',
  '/etc/localtime',
  '/proc/self',
  '/proc/meminfo',
  '/proc/cpuinfo',
];

const LOADERS = ['ld-linux-x86-64.so.2', 'ld-linux-aarch64.so.1'] as const;

/**
 * Keeps Node from reading the system's OpenSSL configuration: it exits if it may not read a file that this includes.
 * Engines need none.
 */
const NO_TLS = ['--openssl-config=/dev/null'];

/** The parts of the sandbox that this kernel does not provide. */
interface SandboxGaps {
  /** Engines can open files of other conversions, because there is no Landlock. */
  readonly files: boolean;
  /** Engines can make any system call, because there is no filter. */
  readonly calls: boolean;
  /** Version of Landlock, 0 if there is none. */
  readonly landlock: number;
  /**
   * Actions that a compromised browser can still take because Landlock is too old to deny them. For other engines,
   * the system call filter denies them.
   */
  readonly browser: readonly string[];
}

/** Actions of a browser that only Landlock can deny, with the version that introduced it. */
const BROWSER_GAPS = [
  { since: 4, gap: 'connect to any TCP port' },
  { since: 6, gap: 'send signals to processes of the service' },
] as const;

/**
 * Prepares a Node process that enters a sandbox before it runs a script: no sockets, no other program or process and,
 * where the kernel has Landlock, no files except the service's code, fonts and its own directory.
 */
export function sandboxedNode(
  { layers, code, sandbox }: Pick<EngineDependencies, 'layers' | 'code' | 'sandbox'>,
  args: readonly string[],
): (home: string) => WorkerCommand {
  // Resolved once, before any engine has run, because a compromised engine could redirect links.
  const enter = realpathSync(join(layers, 'sandbox/enter'));
  const readable = [...SYSTEM, ...code, ...layerPaths(resolve(layers, 'fonts')), compileCache() ?? []].flat();
  return (home) => ({
    command: enter,
    args: [home, ...readable, '--', process.execPath, ...NO_TLS, ...args],
    environment: { ...nodeEnvironment(), ...sandboxEnvironment(sandbox), ...fontEnvironment(layers) },
  });
}

/** A native engine of a layer. */
interface NativeProgram {
  readonly layer: Layer;
  /** Name of the program below the layer's `program` folder. */
  readonly program: string;
  /** Further folders with libraries, besides the layer's `lib`. */
  readonly libraries?: readonly string[];
  /** Further layers that it may read. */
  readonly reads?: readonly Layer[];
  /** Returns the arguments before the private directory and the readable paths. */
  readonly args?: (home: string) => readonly string[];
  readonly environment?: (home: string) => Readonly<Record<string, string>>;
}

/**
 * Prepares a native engine. It starts through its layer's own loader and C library, and sandboxes itself before it
 * reads a request. It can open only its private directory and the layers that it reads.
 */
export function nativeEngine(
  { layers, sandbox }: Pick<EngineDependencies, 'layers' | 'sandbox'>,
  { layer, program, libraries = [], reads = [], args, environment }: NativeProgram,
): (home: string) => WorkerCommand {
  const own = resolve(layers, layer, 'lib');
  const loader = LOADERS.find((name) => existsSync(join(own, name))) ?? LOADERS[0];
  const path = resolve(layers, layer, 'program', program);
  const readable = [layer, ...reads].flatMap((name) => layerPaths(resolve(layers, name)));
  return (home) => ({
    command: join(own, loader),
    args: ['--library-path', [...libraries, own].join(':'), path, ...(args?.(home) ?? []), home, ...readable],
    environment: { ...sandboxEnvironment(sandbox), ...environment?.(home) },
  });
}

/** Returns the environment that makes fontconfig use only the fonts layer, and the caches in it. */
export function fontEnvironment(
  layers: string,
  configuration: 'fonts.conf' | 'office.conf' = 'fonts.conf',
): Readonly<Record<string, string>> {
  const fonts = resolve(layers, 'fonts');
  return { FONTCONFIG_FILE: join(fonts, configuration), XDG_CACHE_HOME: fonts };
}

/**
 * Returns the variable that tells the launcher and LibreOffice's host whether an incomplete sandbox is acceptable.
 */
export function sandboxEnvironment(mode: SandboxMode = 'required'): Readonly<Record<string, string>> {
  return { SANDBOX: mode };
}

/** Detects which parts of the sandbox this kernel provides, in a process that exits immediately. */
export function findSandboxGaps(layers: string): SandboxGaps {
  const enter = realpathSync(join(layers, 'sandbox/enter'));
  const { stdout } = spawnSync(enter, ['--probe'], { env: sandboxEnvironment('best-effort') });
  const [missing = 3, landlock = 0] = (stdout.toString().trim() || '3 0').split(' ').map(Number);
  const browser = BROWSER_GAPS.filter(({ since }) => landlock < since).map(({ gap }) => gap);
  return { files: (missing & 1) !== 0, calls: (missing & 2) !== 0, landlock, browser };
}

/** Whether a kernel lacks any part of the sandbox. */
export function isIncomplete({ files, calls, browser }: SandboxGaps): boolean {
  return files || calls || browser.length > 0;
}

/** Returns a layer's folder, and the folder that its files link to if some of them had to be inflated elsewhere. */
export function layerPaths(layer: string): string[] {
  return [layer, dirname(realpathSync(join(layer, 'manifest.json')))];
}

/** The dependencies of an engine without a network. */
export type ScriptDependencies = Omit<EngineDependencies, 'egress' | 'download'>;
/** The dependencies of an engine that is a program. */
export type ProgramDependencies = Omit<ScriptDependencies, 'code'>;

/** The limits of an engine that is a script. */
interface Script extends Pick<WorkerPoolOptions, 'requests' | 'memory' | 'maxMemory' | 'messages' | 'times'> {
  readonly script: string;
  /** Maximum size of the script's heap in MiB. */
  readonly heap: number;
  /** See `WorkerPoolOptions`. */
  readonly cost: number;
}

/** Creates the workers of a script, which are sandboxed Node processes. */
export function sandboxedPool(
  dependencies: ScriptDependencies,
  { script, heap, ...limits }: Script,
): WorkerPool {
  const command = sandboxedNode(dependencies, [`--max-old-space-size=${heap}`, script]);
  return new WorkerPool(command, { ...dependencies, ...limits });
}

/** Returns dependencies of an engine that a tool works without, so its failures do not count as the tool's. */
export function withoutObserver({ observer: _, ...others }: ScriptDependencies): ScriptDependencies {
  return others;
}
