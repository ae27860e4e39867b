import { spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import type { SandboxMode } from '../../../shared/settings/sandbox.ts';
import { sandboxEnvironment } from '../../worker/sandbox.ts';
import { chromiumFlags } from './flags.ts';
import { OwnSandboxError } from './own-sandbox.ts';
import { connectTo } from './protocol.ts';
import { sandboxedCommand } from './sandbox.ts';

export interface LaunchOptions {
  /** Folder that holds the layers. */
  readonly layers: string;
  /** Private directory of this browser: profile, caches, temporary files. */
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
  /** Whether the browser may start without its own sandbox where the machine does not allow it. */
  readonly sandbox: SandboxMode;
  /** Ports of the relays that pages connect to. */
  readonly ports: readonly number[];
  /** Whether pages are printed. */
  readonly prints?: boolean;
}

/** A running browser. It exits with the process group that started it, or when its pipes are closed. */
export interface RunningBrowser {
  readonly connection: Connection;
  readonly pid: number;
  /** Rejects when the browser exits. */
  readonly ended: Promise<never>;
  /** Why it runs without its own sandbox, or `undefined` if it runs in it. */
  readonly unsandboxed: string | undefined;
}

/**
 * Launches the browser in the service's sandbox, with its own sandbox inside. Where the machine does not allow the latter,
 * it starts without, unless the sandbox is required. Root always goes without: Chromium refuses to start otherwise.
 * @throws OwnSandboxError
 */
export async function launchBrowser(options: LaunchOptions): Promise<RunningBrowser> {
  if (process.getuid?.() === 0) {
    return start(options, { sandbox: false, zygote: true }, 'Chromium does not sandbox a browser of root.');
  }
  try {
    return await start(options, { sandbox: true, zygote: true });
  } catch (cause) {
    if (options.sandbox === 'required') throw new OwnSandboxError(cause);
    // The reason why the sandbox cannot start may also keep its zygote from forking.
    return start(options, { sandbox: false, zygote: false }, String(cause));
  }
}

async function start(
  options: LaunchOptions,
  own: { readonly sandbox: boolean; readonly zygote: boolean },
  unsandboxed?: string,
): Promise<RunningBrowser> {
  const { layers, home, ports, environment, prints } = options;
  const sandbox = { layers, home, ports, namespaces: own.sandbox };
  const [command, ...args] = sandboxedCommand(sandbox, join(layers, 'chromium/chromium'));
  // Fontconfig changes the mode of a cache directory that it creates, which the service's sandbox does not allow.
  mkdirSync(join(home, 'cache/fontconfig'), { recursive: true });
  const child = spawn(
    command,
    [...args, ...chromiumFlags({ profile: join(home, 'profile'), prints, ...own })],
    {
      cwd: home,
      env: {
        PATH: '/usr/bin:/bin',
        HOME: home,
        TMPDIR: home,
        LANG: 'C.UTF-8',
        TZ: 'UTC',
        LD_LIBRARY_PATH: join(layers, 'chromium/lib'),
        ...sandboxEnvironment(options.sandbox),
        ...environment,
      },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    },
  );
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`Chromium ended: ${code ?? signal}`)));
  });
  ended.catch(() => {});
  const connected = connectTo(child.stdio[3] as Writable, child.stdio[4] as Readable);
  const connection = await Promise.race([connected, ended]).catch((error: unknown) => {
    connected.catch(() => {});
    child.kill('SIGKILL');
    throw error;
  });
  return { connection, pid: child.pid!, ended, unsandboxed };
}
