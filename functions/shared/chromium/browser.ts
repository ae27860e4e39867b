import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { Browser, ConnectionTransport } from 'puppeteer-core';
import { chromiumFlags } from './flags.ts';

export interface LaunchOptions {
  /** Folder that holds the layers. */
  readonly layers: string;
  /** Private directory of this browser: profile, caches, temporary files. */
  readonly home: string;
  readonly environment: Readonly<Record<string, string>>;
}

/** A running browser; it ends with the process group it was started from, or with its pipes. */
export interface RunningBrowser {
  readonly browser: Browser;
  readonly pid: number;
}

const PROTOCOL_TIME = 300_000;

/** Launches the browser, with its sandbox where the machine allows one, else without. */
export async function launchBrowser(options: LaunchOptions): Promise<RunningBrowser> {
  // Chromium refuses to run as root with its sandbox on.
  if (process.getuid?.() === 0) return start(options, false);
  return start(options, true).catch(() => start(options, false));
}

async function start(options: LaunchOptions, sandbox: boolean): Promise<RunningBrowser> {
  const { layers, home, environment } = options;
  const flags = chromiumFlags({ profile: join(home, 'profile'), sandbox });
  const child = spawn(join(layers, 'chromium/chromium'), flags, {
    cwd: home,
    env: {
      PATH: '/usr/bin:/bin',
      HOME: home,
      TMPDIR: home,
      LANG: 'C.UTF-8',
      LD_LIBRARY_PATH: join(layers, 'chromium/lib'),
      ...environment,
    },
    stdio: ['ignore', 'ignore', 'ignore', 'pipe', 'pipe'],
  });
  const ended = new Promise<never>((_, reject) => {
    child.once('error', reject);
    child.once('exit', (code, signal) => reject(new Error(`Chromium ended: ${code ?? signal}`)));
  });
  const transport = pipeTransport(child.stdio[3] as Writable, child.stdio[4] as Readable);
  // The library is read while the browser starts.
  const { connect } = await import('puppeteer-core');
  const connected = connect({
    transport,
    defaultViewport: null,
    protocolTimeout: PROTOCOL_TIME,
    // Requests are watched where they matter, by `visit.ts`.
    networkEnabled: false,
  });
  const browser = await Promise.race([connected, ended]).catch((error: unknown) => {
    connected.catch(() => {});
    child.kill('SIGKILL');
    throw error;
  });
  ended.catch(() => {});
  return { browser, pid: child.pid! };
}

/** Speaks the debugging protocol over two pipes: JSON messages, each ended by a zero byte. */
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
