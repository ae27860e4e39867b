import { spawn } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { ConnectionTransport } from 'puppeteer-core';
import { Connection } from 'puppeteer-core/internal/cdp/Connection.js';
import type { SandboxMode } from '../../../shared/settings/service.ts';
import { within } from '../../../shared/time.ts';
import { layerPaths, SYSTEM, sandboxEnvironment } from '../../worker/sandbox.ts';
import { chromiumFlags, type FlagOptions } from './flags.ts';
import { areBusy, browserTree, OwnSandboxError } from './processes.ts';

interface LaunchOptions {
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
  kill(): void;
  /** Rejects when the browser exits. */
  readonly ended: Promise<never>;
  /** Why it runs without its own sandbox, or `undefined` if it runs in it. */
  readonly unsandboxed: string | undefined;
}

/**
 * The browser crashed or was killed. This does not mean that its sandbox is missing: in that case it exits by itself.
 */
class BrowserCrash extends Error {
  override readonly name = 'BrowserCrash';
}

const CRASHES: ReadonlySet<NodeJS.Signals> = new Set(['SIGSEGV', 'SIGBUS', 'SIGKILL']);

/**
 * How long to wait for the first page of a browser without its own sandbox, in milliseconds, and again if it is still
 * busy by then.
 */
const FIRST_PAGE_TIME = 4000;
const SLOW_PAGE_TIME = 30_000;
/** Timeout for a browser to exit after its pipes are closed, in milliseconds. */
const END_TIME = 2000;

/**
 * Variables that Chromium sets itself while it starts. Adding a variable moves all others in glibc before 2.41, which
 * crashes a thread that reads variables at the same time. Replacing one does not.
 */
const ownVariables = (layers: string) => ({
  DBUS_SESSION_BUS_ADDRESS: 'disabled:',
  FC_FONTATIONS: '1',
  VK_ICD_FILENAMES: join(layers, 'chromium/vk_swiftshader_icd.json'),
});

/**
 * Launches the browser in the service's sandbox, with its own sandbox inside, and opens its first page. Where the
 * machine does not allow the browser's sandbox, it starts without it, unless the sandbox is required. If no renderer
 * starts then, everything runs in one process. As root, Chromium always starts without its sandbox, because it would
 * refuse to start otherwise.
 * @throws OwnSandboxError, BrowserCrash, and the errors of `open`
 */
export async function launchBrowser<Page>(
  options: LaunchOptions,
  open: (browser: RunningBrowser) => Promise<Page>,
): Promise<{ readonly browser: RunningBrowser; readonly page: Page }> {
  const withPage = async (browser: RunningBrowser) => ({ browser, page: await open(browser) });
  if (process.getuid?.() === 0) {
    const reason = 'Chromium cannot use its own sandbox when it runs as root.';
    return withPage(await start(options, { sandbox: false, processes: 'forked' }, reason));
  }
  const sandboxed = await start(options, { sandbox: true, processes: 'forked' }).catch((cause: unknown) => {
    // The next start may succeed.
    if (cause instanceof BrowserCrash) throw cause;
    if (options.sandbox === 'required') throw new OwnSandboxError(cause);
    return String(cause);
  });
  if (typeof sandboxed !== 'string') return withPage(sandboxed);

  // The cause of the failed sandbox may also keep its zygote from forking.
  const browser = await start(options, { sandbox: false, processes: 'started' }, sandboxed);
  const page = await whileBusy(browser, open(browser)).catch(() => undefined);
  if (page !== undefined) return { browser, page };
  browser.kill();
  await browser.ended.catch(() => {});
  const reason = `${sandboxed} No renderer started either, so pages run in the process of the browser.`;
  return withPage(await start(options, { sandbox: false, processes: 'none' }, reason));
}

/** Waits for the first page of a browser. Returns `undefined` once the browser is idle without having opened it. */
async function whileBusy<Page>(browser: RunningBrowser, opened: Promise<Page>): Promise<Page | undefined> {
  for (let time = 0; time < SLOW_PAGE_TIME; time += FIRST_PAGE_TIME) {
    const page = await within(FIRST_PAGE_TIME, opened);
    if (page !== undefined || !areBusy(browserTree(browser.pid))) return page;
  }
  return undefined;
}

async function start(
  options: LaunchOptions,
  own: Pick<FlagOptions, 'sandbox' | 'processes'>,
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
        ...ownVariables(layers),
        ...sandboxEnvironment(options.sandbox),
        ...environment,
      },
      stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
    },
  );
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => {
      const message = `Chromium ended: ${code ?? signal}`;
      reject(signal !== null && CRASHES.has(signal) ? new BrowserCrash(message) : new Error(message));
    });
  });
  ended.catch(() => {});
  const connected = connectTo(child.stdio[3] as Writable, child.stdio[4] as Readable);
  const connection = await Promise.race([connected, ended]).catch(async (error: unknown) => {
    connected.catch(() => {});
    // Throws how the browser exited, which says more than that its pipes were closed.
    await within(END_TIME, ended).finally(() => child.kill('SIGKILL'));
    throw error;
  });
  return { connection, pid: child.pid!, kill: () => void child.kill('SIGKILL'), ended, unsandboxed };
}

// Imported alone, because compiling the whole package takes 40 ms.

/** Commands need no timeout, because conversions have one. */
const NO_TIMEOUT = 0;

/**
 * Connects to a browser over two pipes. Only puppeteer's connection is used: its pages would attach to each page a second
 * time and add a script context to each document, an eighth of the cost of a small page.
 */
async function connectTo(output: Writable, input: Readable): Promise<Connection> {
  const transport = pipeTransport(output, input);
  const connection = new Connection('', transport, 0, NO_TIMEOUT, false, undefined, () => undefined);
  // The browser responds once it runs.
  await connection.send('Browser.getVersion');
  // Reports the pages whose process ends; see `openSession`.
  await connection.send('Target.setDiscoverTargets', { discover: true, filter: [{ type: 'page' }] });
  return connection;
}

/** Transports the debugging protocol: JSON messages, each followed by a zero byte. */
function pipeTransport(output: Writable, input: Readable): ConnectionTransport {
  let rest: Buffer[] = [];
  const transport: ConnectionTransport = {
    send: (message) => output.write(`${message}\0`),
    close: () => output.end(),
  };
  output.on('error', () => {});
  input.on('error', () => {});
  input.on('close', () => transport.onclose?.());
  input.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      const message = Buffer.concat([...rest, chunk.subarray(start, end)]).toString();
      rest = [];
      start = end + 1;
      transport.onmessage?.(message);
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  });
  return transport;
}

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
