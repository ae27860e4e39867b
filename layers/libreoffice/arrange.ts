import { copyFile, cp, glob, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { runCommand } from '../build/command.ts';
import { platform } from '../build/platform.ts';
import { PINS } from './pins.ts';

/** Where a start file lies, as LibreOffice itself finds out. */
const ORIGIN = '$'.concat('{ORIGIN}');

/**
 * Arranges unpacked packages so that LibreOffice runs from wherever it lies, by its own loader and C library:
 * `program/`, `share/` and `lib/`, which holds exactly the libraries that those in `program/` need.
 */
export async function arrange(unpacked: string, into: string): Promise<void> {
  const source = join(unpacked, 'usr/lib/libreoffice');
  const [program, share] = [join(into, 'program'), join(into, 'share')];
  await cp(join(source, 'program'), program, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (file) => !PINS.unwantedProgram.test(file.slice(join(source, 'program').length + 1)),
  });
  await cp(join(source, 'share'), share, {
    recursive: true,
    verbatimSymlinks: true,
    filter: (file) =>
      !(PINS.unwantedShare as readonly string[]).includes(file.slice(join(source, 'share').length + 1)),
  });
  // What a new profile is filled with; LibreOffice insists on the folder.
  await mkdir(join(into, 'presets'));
  await trimScreenFiles(share);
  await settle(unpacked, source, into);
  await collectLibraries(unpacked, into);
}

/** Keeps of the 26 MB that describe windows the few files that are read without a screen too. */
async function trimScreenFiles(share: string): Promise<void> {
  for await (const file of glob(join(share, 'config/images_*'))) await rm(file);
  for await (const file of glob(join(share, 'config/soffice.cfg/**/notebookbar*.ui'))) await rm(file);
  for (const name of ['cui', 'modules/BasicIDE', 'modules/sglobal', 'modules/sbibliography']) {
    await rm(join(share, 'config/soffice.cfg', name), { recursive: true, force: true });
  }
}

/** Takes the absolute paths of an installed LibreOffice out of its start files. */
async function settle(unpacked: string, source: string, into: string): Promise<void> {
  const fundamental = join(into, 'program/fundamentalrc');
  const text = await readFile(fundamental, 'utf8');
  await writeFile(fundamental, text.replace(/^BRAND_BASE_DIR=.*$/m, `BRAND_BASE_DIR=${ORIGIN}/..`));
  // The packaged file only points into /etc.
  const start = ['CrashDumpEnable=false', 'HideEula=1', 'Logo=0', `URE_BOOTSTRAP=${ORIGIN}/fundamentalrc`];
  await writeFile(join(into, 'program/sofficerc'), `[Bootstrap]\n${start.join('\n')}\n`);
  const registry = join(into, 'share/registry');
  for await (const link of glob(join(registry, '*'))) {
    if (basename(link) === 'main.xcd' || link.endsWith('.sample')) await rm(link);
  }
  await copyFile(join(source, 'share/.registry/main.xcd'), join(registry, 'main.xcd'));
  // Without it every start prints back-traces.
  await cp(join(unpacked, 'usr/share/liblangtag'), join(into, 'share/liblangtag'), { recursive: true });
}

async function collectLibraries(unpacked: string, into: string): Promise<void> {
  const { triplet, loader } = platform();
  const [all, program, lib] = [join(unpacked, 'usr/lib', triplet), join(into, 'program'), join(into, 'lib')];
  await mkdir(lib);
  const users = (await readdir(program)).filter(
    (name) => /\.so(\.\d+)?$/.test(name) || name === 'soffice.bin',
  );
  const roots = [
    ...users.map((name) => join(program, name)),
    ...PINS.loadedByName.map((name) => join(all, name)),
  ];
  const needed = new Set<string>(PINS.loadedByName);
  for (const root of roots) {
    const listed = await runCommand(join(all, loader), [
      '--library-path',
      `${program}:${all}`,
      '--list',
      root,
    ]);
    for (const [, file] of listed.matchAll(/=> (\/\S+) \(/g)) {
      // The ones of LibreOffice itself must be found beside it, not in `lib/`.
      if (file!.startsWith(all) && !/\/lib(uno_|jvm)/.test(file!)) needed.add(basename(file!));
    }
  }
  for (const name of [...needed, loader]) await copyFile(await realpath(join(all, name)), join(lib, name));
}
