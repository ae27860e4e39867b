import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join, parse, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConversionError } from '../../shared/errors.ts';
import { serveRequests } from '../worker/serve.ts';
import { type HostReply, type HostRequest, installation } from './host.ts';
import { INPUTS, readInput } from './inputs.ts';
import type { Editable } from './outputs.ts';
import { writeProfile } from './profile.ts';
import { FILTERS } from './save-options.ts';

/** Exit codes that request a restart, because a new profile was initialized. */
const RESTART: readonly unknown[] = [79, 81];
/** Where LibreOffice creates the socket on which it receives further documents. The path is compiled in. */
const PIPES = '/tmp';

// The working directory is the worker's private one. The argument is the folder of the layers.
const [layers = ''] = process.argv.slice(2);
const home = process.cwd();
const { program, start, readable } = installation(layers);
const profile = writeProfile(home, { macros: false });
const pipes = pipesOf(profile);

// A worker is ready only if the program starts, so that the health check notices if it does not.
await run(['--version'], home);

await serveRequests<HostRequest>(async (request): Promise<HostReply> => {
  const source = parse(fileURLToPath(request.source));
  const module = INPUTS[readInput(source.ext) ?? 'odt'];
  checkAbility(request, module);
  const out = join(home, 'out');
  const reading = request.load.replace(/,?Batch=true/, '');
  const args = [
    ...(reading === '' ? [] : [`--infilter=Text - txt - csv (StarCalc):${reading}`]),
    ...['--convert-to', targetOf(request, module), '--outdir', out],
    // Documents can print their own path.
    join('/proc/self/cwd', relative(request.folder, join(source.dir, source.base))),
  ];
  // An earlier document may have left its output.
  rmSync(out, { recursive: true, force: true });
  for (let tries = 0; tries < 3 && RESTART.includes(await run(args, request.folder)); tries++);

  const path = join(out, `${source.name}.${request.filter}`);
  await rename(path, fileURLToPath(request.target)).catch(() => {
    throw new ConversionError('CORRUPT_SOURCE', 'LibreOffice cannot open the document. It may be damaged.');
  });
  return { shown: [], sheets: 0 };
});

/** Returns the extension, the filter and its options, as arguments of the program. */
function targetOf({ filter, save }: HostRequest, module: string): string {
  const name = Object.hasOwn(FILTERS, filter) ? FILTERS[filter as Editable] : `${module}_pdf_Export`;
  return [filter, name, ...(save === '' ? [] : [save])].join(':');
}

/** Rejects what only the warm host can do: passwords, the macro, and finding hidden slides. */
function checkAbility({ password, macro, filter, save }: HostRequest, module: string): void {
  const chosen = filter === 'pdf' && module === 'impress' && 'PageRange' in (JSON.parse(save) as object);
  if (password !== undefined) throw unable("'--password'");
  if (macro !== undefined) throw unable('This combination of options');
  if (chosen) throw unable('Selecting slides');
}

function unable(what: string): ConversionError {
  return new ConversionError(
    'CONVERSION_FAILED',
    `${what} is not available while the service runs in fallback mode.`,
  );
}

/** Runs the program in a folder to its end, in the host's sandbox plus one socket, on which it only listens. */
async function run(args: readonly string[], folder: string): Promise<number> {
  const child = spawn(
    join(layers, 'sandbox/enter'),
    [
      ...['--pipes', PIPES, home, home, ...readable, '--', ...start, join(program, 'soffice.bin')],
      ...[`-env:UserInstallation=${profile}`, '--headless', '--norestore', '--nologo', '--nolockcheck'],
      ...args,
    ],
    { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] },
  );
  // Removed at once, so that nothing can connect. A killed program would leave it behind.
  const unlinking = setInterval(unlink, 10);
  const [code] = (await once(child, 'exit').finally(() => {
    clearInterval(unlinking);
    unlink();
  })) as [number | null];
  if (code === 0 || RESTART.includes(code)) return code!;
  // A crash of the program counts as a crash of the worker, so that the pool retries once.
  process.exit(1);
}

function unlink(): void {
  for (const pipe of pipes) rmSync(pipe, { force: true });
}

/** Paths where LibreOffice may create its socket. The name is derived from the profile's URL, and from the user if known. */
function pipesOf(profileUrl: string): string[] {
  const hash = createHash('md5').update(Buffer.from(profileUrl, 'utf16le')).digest();
  const name = `SingleOfficeIPC_${[...hash].map((byte) => byte.toString(16)).join('')}`;
  return [name, `${process.getuid?.()}_${name}`].map((each) => join(PIPES, `OSL_PIPE_${each}`));
}
