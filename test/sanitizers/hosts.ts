// The native engines, built with AddressSanitizer and UndefinedBehaviorSanitizer from their sources and with the libraries of the
// built layers. Each host ends as soon as it misuses memory or relies on undefined behavior.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';
import { hostCommand } from '../../functions/engines/office/host.ts';
import type { WorkerCommand } from '../../functions/engines/worker/process.ts';
import { nativeEngine } from '../../functions/engines/worker/sandbox.ts';
import { compile, sanitizerLibraries } from '../../layers/build/compile.ts';
import { platform } from '../../layers/build/product.ts';
import { unpackPackages } from '../../layers/debian/apt.ts';
import { READER, SOURCES, unpackHeaders } from '../../layers/libreoffice/build.ts';
import { PROGRAMS, sourcesOf } from '../../layers/pdf/build.ts';
import { PINS } from '../../layers/pdf/pins.ts';

const ROOT = join(import.meta.dirname, '../..');
const LAYERS = join(ROOT, 'dist/layers');
const OWN_HEADERS = ['layers/sandbox', 'layers/build/protocol'].map((folder) => join(ROOT, folder));
const request = { cache: join(ROOT, 'dist/cache/apt'), progress: () => undefined };

export const HOSTS = ['pdfium', 'qpdf', 'libreoffice'] as const;
export type Host = (typeof HOSTS)[number];

/** Builds the hosts into a folder and returns how each is started. */
export async function buildHosts(
  into: string,
): Promise<Readonly<Record<Host, (home: string) => WorkerCommand>>> {
  const headers = join(into, 'headers');
  const system = ['', platform().triplet].map((name) => join(headers, 'usr/include', name));
  const common = { ...request, sanitize: true, include: [...OWN_HEADERS, ...system] };
  mkdirSync(into, { recursive: true });
  await unpackPackages({
    ...request,
    packages: PINS.headers,
    suite: PINS.suite,
    dependencies: false,
    into: headers,
  });
  await unpackHeaders({ ...request, into: headers });
  for (const [name, libraries] of Object.entries(PROGRAMS)) {
    const linked = libraries.map((library) => join(LAYERS, 'pdf/lib', library));
    await compile({
      ...common,
      sources: await sourcesOf(name),
      libraries: linked,
      output: join(into, name),
    });
  }
  const reader = [join(LAYERS, 'libreoffice/lib', READER)];
  await compile({ ...common, sources: SOURCES, libraries: reader, output: join(into, 'libreoffice') });

  const sanitizers = await sanitizerLibraries(request);
  // The commands of the service, with other programs and more libraries.
  const replaced = (command: WorkerCommand, program: string): WorkerCommand => ({
    ...command,
    args: command.args.map((arg, index) => {
      if (index === 1) return `${arg}:${sanitizers}`;
      return index === 2 ? join(into, program) : arg;
    }),
  });
  const faces = join(LAYERS, 'fonts/faces');
  const dependencies = { layers: LAYERS };
  const pdfium = nativeEngine(dependencies, {
    layer: 'pdf',
    program: 'pdfium',
    reads: ['fonts'],
    args: () => [faces],
  });
  const qpdf = nativeEngine(dependencies, { layer: 'pdf', program: 'qpdf' });
  const libreoffice = hostCommand({ layers: LAYERS });
  return {
    pdfium: (home) => replaced(pdfium(home), 'pdfium'),
    qpdf: (home) => replaced(qpdf(home), 'qpdf'),
    libreoffice: (home) => replaced(libreoffice(home), 'libreoffice'),
  };
}

/** Result of a request: an answer, or the end of the process. */
export interface Outcome {
  /** The last answer, if there was one. */
  readonly answer?: Readonly<Record<string, unknown>> | undefined;
  /** Report of a sanitizer about the project's own code. */
  readonly report?: string | undefined;
  /** The process ended by itself. */
  readonly ended: boolean;
}

/** One running host, which is started again after it has ended. */
export class RunningHost {
  readonly #command: () => WorkerCommand;
  readonly #home: string;
  #child: ChildProcess | undefined;
  #stderr = '';
  #settle: (outcome: Outcome) => void = () => {};

  constructor(command: (home: string) => WorkerCommand, home: string) {
    this.#home = home;
    this.#command = () => command(home);
  }

  /** Sends a line and waits for the result or error, at most so many milliseconds; then the process is killed. */
  async send(line: string | Buffer, time = 20_000): Promise<Outcome> {
    const child = this.#child ?? (await this.#start());
    return new Promise((resolve) => {
      const timer = setTimeout(() => child.kill('SIGKILL'), time);
      this.#settle = (outcome) => {
        clearTimeout(timer);
        resolve(outcome);
      };
      child.stdin!.write(line);
      child.stdin!.write('\n');
    });
  }

  stop(): void {
    this.#child?.kill('SIGKILL');
  }

  #start(): Promise<ChildProcess> {
    const { command, args, environment } = this.#command();
    this.#stderr = '';
    const child = spawn(command, args, {
      cwd: this.#home,
      env: { HOME: this.#home, TMPDIR: this.#home, ASAN_OPTIONS: 'detect_leaks=0', ...environment },
      stdio: ['pipe', 'ignore', 'pipe', 'pipe'],
    });
    this.#child = child;
    child.stdin!.on('error', () => {});
    child.stderr!.on('data', (chunk: Buffer) => {
      this.#stderr = (this.#stderr + chunk.toString('latin1')).slice(-20_000);
    });
    return new Promise((resolve, reject) => {
      const lines = createInterface({ input: child.stdio[3] as Readable });
      lines.on('line', (line) => {
        const answer = JSON.parse(line) as Record<string, unknown>;
        if ('ready' in answer) resolve(child);
        if ('result' in answer || 'error' in answer) this.#settle({ answer, ended: false });
      });
      // After `exit`, more of the report could arrive.
      child.once('close', () => {
        this.#child = undefined;
        reject(new Error(`The host did not start. ${this.#stderr}`));
        this.#settle({ ended: true, report: ownReport(this.#stderr) });
      });
    });
  }
}

/**
 * Returns a report of a sanitizer if it is about the project's own code. Only that is compiled with sanitizers, but
 * AddressSanitizer also reports crashes of the libraries.
 */
function ownReport(stderr: string): string | undefined {
  const text = stderr.slice(stderr.search(/==\d+==ERROR: AddressSanitizer|runtime error:/));
  if (!/AddressSanitizer|runtime error:/.test(text)) return undefined;
  const frames = [...text.matchAll(/^ +#\d+ 0x[0-9a-f]+ (?:in )?(.*)$/gm)].map(([, frame]) => frame!);
  const first = frames.find((frame) => !/libasan|libubsan|interceptor/.test(frame)) ?? '';
  const isOwn = text.includes('runtime error:') || frames.length === 0 || !/\.so[.\d]*\+?/.test(first);
  return isOwn ? text.slice(0, 4000) : undefined;
}

/** Builds a program of this folder in the same way and returns how it is started. */
export async function buildProgram(name: string, into: string): Promise<readonly [string, ...string[]]> {
  const headers = join(into, 'headers');
  await unpackPackages({
    ...request,
    packages: ['libyyjson-dev'],
    suite: PINS.suite,
    dependencies: false,
    into: headers,
  });
  const output = join(into, name);
  const libraries = join(LAYERS, 'pdf/lib');
  await compile({
    ...request,
    sanitize: true,
    output,
    include: [...OWN_HEADERS, join(headers, 'usr/include')],
    sources: [join(import.meta.dirname, `${name}.c`)],
    libraries: [join(libraries, READER)],
  });
  const path = `${libraries}:${await sanitizerLibraries(request)}`;
  return [join(libraries, platform().loader), '--library-path', path, output];
}
