import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';
import { mkdir, mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { extname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { INPUTS, readInput } from '../../functions/engines/office/inputs.ts';
import { buildOnce, cacheOf, platform } from '../../layers/build/product.ts';
import { unpackPackages } from '../../layers/debian/apt.ts';
import { arrange } from '../../layers/libreoffice/arrange.ts';
import { PINS } from '../../layers/libreoffice/pins.ts';

const LAYERS = join(import.meta.dirname, '../../dist/layers');
/** Milliseconds for one document. */
const TIME = 60_000;
/** Exit codes that request a restart, because a new profile was initialized. */
const RESTART = [79, 81];

/** LibreOffice as users install it, with `--convert-to`. */
export interface CompleteOffice {
  /** Converts a file to PDF with export options. Returns `undefined` if there is no result. */
  convert(path: string, exportOptions?: string): Promise<Buffer | undefined>;
  /** Converts a file to `target`, an argument of `--convert-to`. Returns `undefined` if there is no result. */
  convertTo(path: string, target: string): Promise<Buffer | undefined>;
  close(): Promise<void>;
}

/**
 * Unpacks a complete LibreOffice of the layer's version and prepares a profile for it. It converts one
 * document at a time.
 */
export async function startCompleteOffice(): Promise<CompleteOffice> {
  const office = await buildCompleteOffice((text) => process.stderr.write(`${text}\n`));
  const home = await mkdtemp(join(tmpdir(), 'soffice-'));
  const profile = pathToFileURL(join(home, 'profile')).href;
  const [program, libraries] = [join(office, 'program'), join(office, 'lib')];
  const env = {
    HOME: home,
    TMPDIR: home,
    PATH: '/usr/bin:/bin',
    LANG: 'en_US.UTF-8',
    // A4, as on a machine in most countries. Without it the machine's own setting decides.
    LC_PAPER: 'C',
    LOCPATH: join(LAYERS, 'libreoffice/share/locale'),
    FONTCONFIG_FILE: join(LAYERS, 'fonts/office.conf'),
    SAL_USE_VCLPLUGIN: 'svp',
  };
  /** Returns the exit code, or `killed` after the time for one document. */
  const start = (args: readonly string[]) =>
    new Promise<unknown>((resolve) => {
      const all = ['--library-path', `${program}:${libraries}`, join(program, 'soffice.bin'), ...args];
      const options = { env, timeout: TIME, killSignal: 'SIGKILL' } as const;
      const child = execFile(join(libraries, platform().loader), all, options, (error) => {
        process.off('exit', end);
        if (error?.killed) removePipes(profile);
        resolve(error?.killed ? 'killed' : error?.code);
      });
      const end = () => {
        child.kill('SIGKILL');
        removePipes(profile);
      };
      process.once('exit', end);
    });
  let queue: Promise<unknown> = Promise.resolve();

  async function run(path: string, target: string): Promise<Buffer | undefined> {
    const out = join(home, 'out');
    await mkdir(out, { recursive: true });
    const args = [
      `-env:UserInstallation=${profile}`,
      '--headless',
      '--norestore',
      '--nologo',
      '--nolockcheck',
      ...['--convert-to', target, '--outdir', out, path],
    ];
    let code = await start(args);
    if (RESTART.includes(Number(code))) code = await start(args);
    // Where the target selects a sheet, its name is part of the file's.
    const names = await readdir(out);
    const isComplete = names[0] !== undefined && code !== 'killed';
    const result = isComplete ? await readFile(join(out, names[0]!)) : undefined;
    await rm(out, { recursive: true, force: true });
    return result;
  }

  function convertTo(path: string, target: string): Promise<Buffer | undefined> {
    const turn = queue.then(() => run(path, target));
    queue = turn.catch(() => undefined);
    return turn;
  }

  return {
    convert: (path, exportOptions = '') => convertTo(path, pdfTarget(path, exportOptions)),
    convertTo,
    close: () => rm(home, { recursive: true, force: true, maxRetries: 5 }),
  };
}

/** Options must be preceded by the name of the module's filter. */
function pdfTarget(path: string, exportOptions: string): string {
  const module = INPUTS[readInput(extname(path)) ?? 'odt'];
  return exportOptions === '' ? 'pdf' : `pdf:${module}_pdf_Export:${exportOptions}`;
}

/** Every module, filter and dialog, with the graphical interface. Then, as in the layer, a locale for file names. */
const PACKAGES = ['libreoffice', 'libc-bin'];

/**
 * Unpacks a complete LibreOffice of the layer's suite for comparison, without installing it, and returns its folder.
 * Fonts are left out, because both sides use the fonts layer.
 */
async function buildCompleteOffice(progress: (text: string) => void): Promise<string> {
  const into = join(import.meta.dirname, '../../dist/test/soffice');
  await buildOnce({ into, progress }, { suite: PINS.suite, packages: PACKAGES }, async (directory) => {
    const unpacked = join(directory, 'unpacked');
    await unpackPackages({
      packages: PACKAGES,
      suite: PINS.suite,
      keep: (name) => !name.startsWith('fonts-'),
      into: unpacked,
      cache: join(cacheOf(into), 'apt'),
      progress,
    });
    await arrange(unpacked, directory, { complete: true });
    await rm(unpacked, { recursive: true });
  });
  return into;
}

/**
 * Deletes the sockets that LibreOffice creates in `/tmp` and leaves behind if it is killed. Their names are derived from the
 * URL of its profile, and from the user if known.
 */
export function removePipes(profileUrl: string): void {
  const hash = createHash('md5').update(Buffer.from(profileUrl, 'utf16le')).digest();
  const name = `SingleOfficeIPC_${[...hash].map((byte) => byte.toString(16)).join('')}`;
  for (const each of [name, `${process.getuid?.()}_${name}`])
    rmSync(`/tmp/OSL_PIPE_${each}`, { force: true });
}
