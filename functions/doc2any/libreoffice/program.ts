import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConversionError } from '../../shared/errors.ts';
import { serveRequests } from '../../shared/worker/serve.ts';
import type { Kind } from '../tool.ts';
import { type HostReply, type HostRequest, installation } from './host.ts';
import { writeProfile } from './profile.ts';

/** Which of its programs opens a document, by the name's extension. */
const MODULES: Readonly<Record<Kind, 'writer' | 'calc' | 'impress'>> = {
  ...{ doc: 'writer', docx: 'writer', odt: 'writer', rtf: 'writer', txt: 'writer' },
  ...{ xls: 'calc', xlsx: 'calc', ods: 'calc', csv: 'calc' },
  ...{ ppt: 'impress', pptx: 'impress', odp: 'impress' },
};
/** It wants to be started again: a new profile was filled. */
const AGAIN: readonly unknown[] = [79, 81];
/** Compiled into LibreOffice as the place of the socket by which it would hear of other documents. */
const PIPES = '/tmp';

// The engine's own directory is where it runs; the folder of the layers and that of all conversions are its arguments.
const [layers = '', conversions = ''] = process.argv.slice(2);
const home = process.cwd();
const { program, start, readable } = installation(layers);
const profile = writeProfile(home, { arranging: false });
const pipes = pipesOf(profile);

await serveRequests<HostRequest>(async (request): Promise<HostReply> => {
  const source = parse(fileURLToPath(request.source));
  const module = MODULES[source.ext.slice(1) as Kind];
  checkAbility(request, module);
  const out = join(home, 'out');
  const reading = request.load.replace(/,?Batch=true$/, '');
  const args = [
    ...(reading === '' ? [] : [`--infilter=Text - txt - csv (StarCalc):${reading}`]),
    ...['--convert-to', `pdf:${module}_pdf_Export:${request.save}`, '--outdir', out],
    join(source.dir, source.base),
  ];
  // What an earlier document may have left is no output of this one.
  rmSync(out, { recursive: true, force: true });
  for (let tries = 0; tries < 3 && AGAIN.includes(await run(args)); tries++);

  const path = join(out, `${source.name}.pdf`);
  await rename(path, fileURLToPath(request.target)).catch(() => {
    throw new ConversionError('CORRUPT_SOURCE', 'The document is damaged: LibreOffice cannot open it.');
  });
  return { shown: [] };
});

/** Refuses what only the warm host can do: passwords, macros of ours, and to tell which slides are hidden. */
function checkAbility({ password, macro, save }: HostRequest, module: string): void {
  const chosen = module === 'impress' && 'PageRange' in (JSON.parse(save) as object);
  if (password !== undefined) throw unable('Documents that need a password cannot be opened');
  if (macro !== undefined) throw unable('Pages of another layout cannot be made');
  if (chosen) throw unable('Slides cannot be chosen');
}

function unable(what: string): ConversionError {
  return new ConversionError(
    'CONVERSION_FAILED',
    `${what} at the moment, for a part of the service is out of order.`,
  );
}

/** Runs the program to its end, shut in like the host but for one socket, by which it is called and calls nobody. */
async function run(args: readonly string[]): Promise<number> {
  const child = spawn(
    join(layers, 'sandbox/enter'),
    [
      ...['--pipes', PIPES, home, conversions, ...readable, '--', ...start, join(program, 'soffice.bin')],
      ...[`-env:UserInstallation=${profile}`, '--headless', '--norestore', '--nologo', '--nolockcheck'],
      ...args,
    ],
    { stdio: ['ignore', 'ignore', 'inherit'] },
  );
  // Nobody shall call, and a program that is killed leaves its socket behind.
  const unlinking = setInterval(unlink, 10);
  const [code] = (await once(child, 'exit').finally(() => {
    clearInterval(unlinking);
    unlink();
  })) as [number | null];
  if (code === 0 || AGAIN.includes(code)) return code!;
  // A crash of the program is one of the engine: a fresh one tries once more.
  process.exit(1);
}

function unlink(): void {
  for (const pipe of pipes) rmSync(pipe, { force: true });
}

/** Where LibreOffice may make its socket: named after the profile, each byte without a leading zero, and the user if it finds out. */
function pipesOf(profileUrl: string): string[] {
  const hash = createHash('md5').update(Buffer.from(profileUrl, 'utf16le')).digest();
  const name = `SingleOfficeIPC_${[...hash].map((byte) => byte.toString(16)).join('')}`;
  return [name, `${process.getuid?.()}_${name}`].map((each) => join(PIPES, `OSL_PIPE_${each}`));
}
