import { spawn } from 'node:child_process';
import { on, once } from 'node:events';
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { createInterface } from 'node:readline';
import { readStat } from '../../functions/engines/worker/linux/proc.ts';
import { processTime } from './measure.ts';

/** Programs that users would otherwise run. The words verify that a program is the expected one. */
const PEERS = {
  pdftoppm: { package: 'poppler-utils', names: ['pdftoppm'], ask: ['-v'], words: /poppler|pdftoppm/i },
  pdfunite: { package: 'poppler-utils', names: ['pdfunite'], ask: ['-v'], words: /poppler|pdfunite/i },
  qpdf: { package: 'qpdf', names: ['qpdf'], ask: ['--version'], words: /qpdf version/ },
  img2pdf: { package: 'img2pdf', names: ['img2pdf'], ask: ['--version'], words: /img2pdf/ },
  mutool: { package: 'mupdf-tools', names: ['mutool'], ask: ['-v'], words: /mutool/i },
  imagemagick: {
    package: 'imagemagick',
    names: ['magick', 'convert'],
    ask: ['-version'],
    words: /ImageMagick \d/,
  },
  vipsthumbnail: {
    package: 'libvips-tools',
    names: ['vipsthumbnail'],
    ask: ['--vips-version'],
    words: /vips/i,
  },
  soffice: {
    package: 'libreoffice-{writer,calc,impress}-nogui',
    names: ['soffice'],
    ask: ['--version'],
    words: /LibreOffice/,
  },
  uno: { package: 'python3-uno', names: ['python3'], ask: ['-c', 'import uno; print("uno")'], words: /^uno/ },
  chromium: { package: 'chromium', names: ['chromium'], ask: ['--version'], words: /Chromium/ },
  wkhtmltopdf: { package: 'wkhtmltopdf', names: ['wkhtmltopdf'], ask: ['--version'], words: /wkhtmltopdf/ },
  wkhtmltoimage: {
    package: 'wkhtmltopdf',
    names: ['wkhtmltoimage'],
    ask: ['--version'],
    words: /wkhtmltoimage/,
  },
} as const;

type PeerName = keyof typeof PEERS;

export interface Peers {
  /** Path of each program found. */
  readonly found: Readonly<Partial<Record<PeerName, string>>>;
  /** Version that each program reports. */
  readonly versions: Readonly<Partial<Record<PeerName, string>>>;
  /** Debian packages of the missing programs. */
  readonly missing: readonly string[];
}

/** Looks for the peers in PATH. Installs nothing. */
export async function findPeers(path: string): Promise<Peers> {
  const found: Partial<Record<PeerName, string>> = {};
  const versions: Partial<Record<PeerName, string>> = {};
  const missing = new Set<string>();
  for (const name of Object.keys(PEERS) as PeerName[]) {
    const { names, ask, words, package: from } = PEERS[name];
    for (const program of programs(names, path)) {
      const { text } = await runProgram(program, ask).catch(() => ({ text: '' }));
      if (!words.test(text)) continue;
      found[name] = program;
      versions[name] = text
        .split('\n')
        .find((line) => words.test(line))!
        .trim();
      break;
    }
    if (found[name] === undefined) missing.add(from);
  }
  return { found, versions, missing: [...missing] };
}

/** Runs a program and returns its output and duration. */
export function runProgram(
  program: string,
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): Promise<{ text: string; milliseconds: number }> {
  return new Promise((resolve, reject) => {
    const started = performance.now();
    const child = spawn(program, args, {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 300_000,
      killSignal: 'SIGKILL',
    });
    let text = '';
    let milliseconds = 0;
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (text += chunk));
    child.once('error', reject);
    child.once('exit', () => (milliseconds = performance.now() - started));
    child.once('close', (code) => {
      if (code === 0) resolve({ text, milliseconds });
      else reject(new Error(`${program} ended with ${code}: ${text.slice(-500)}`));
    });
  });
}

function programs(names: readonly string[], path: string): string[] {
  const folders = path.split(delimiter).filter((folder) => folder !== '');
  return names.flatMap((name) => folders.map((folder) => join(folder, name)).filter(isProgram));
}

function isProgram(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}

/** Keeps an engine in a process of its own. */
export const DRIVE = join(import.meta.dirname, 'drive.ts');

/** A program that keeps running between conversions. */
export interface Driven {
  /** Runs the conversion in a line and returns its milliseconds, without the program's own start. */
  convert(line: string): Promise<number>;
  /** Milliseconds of CPU time of its children, and of the program itself unless it only passes work on. */
  time(): number;
  close(): Promise<void>;
}

/**
 * Starts a program that writes `ready`, and for each line that it reads the milliseconds of its work or
 * `failed` and why.
 */
export async function startDriven(
  program: string,
  args: readonly string[],
  { onlyPasses = false }: { readonly onlyPasses?: boolean } = {},
): Promise<Driven> {
  const child = spawn(program, args, {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const lines = on(createInterface(child.stdout), 'line', { close: ['close'] });
  const next = async () =>
    String(((await lines.next()).value as [string] | undefined)?.[0] ?? 'failed: it has ended');
  const first = await next();
  if (first !== 'ready') throw new Error(`${args[0]}: ${first}`);
  return {
    async convert(line) {
      child.stdin.write(`${line}\n`);
      const reply = await next();
      if (reply.startsWith('failed')) throw new Error(reply);
      return Number(reply);
    },
    time: () => processTime(child.pid!) - (onlyPasses ? readStat(child.pid!).cpuTime : 0),
    async close() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
    },
  };
}
