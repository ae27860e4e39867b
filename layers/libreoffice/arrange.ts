import { createWriteStream, existsSync } from 'node:fs';
import { copyFile, cp, glob, mkdir, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { basename, join, relative } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { openPromise } from 'yauzl';
import { ZipFile } from 'yazl';
import { runCommand } from '../build/command.ts';
import { listedFiles } from '../build/native.ts';
import { platform } from '../build/product.ts';
import { PINS } from './pins.ts';

/** The folder of a bootstrap file, in LibreOffice's own syntax. */
const ORIGIN = '$'.concat('{ORIGIN}');

/**
 * Keeps LibreOfficeKit from selecting a language, which would also select Letter for documents without a page size.
 * As in soffice, environment variables decide instead: `LANG` for date formats, `LC_PAPER` for the page size.
 */
const SYSTEM_LOCALE = `<?xml version="1.0" encoding="UTF-8"?>
<oor:data xmlns:oor="http://openoffice.org/2001/registry">
  <dependency file="main"/>
  <oor:component-data oor:package="org.openoffice" oor:name="Setup">
    <node oor:name="L10N">
      <prop oor:name="ooSetupSystemLocale" oor:finalized="true"><value></value></prop>
    </node>
  </oor:component-data>
</oor:data>
`;

/** Where Debian's LibreOffice looks for data of other packages, and LibreOffice's own folder, in its own syntax. */
const DATA = 'file:///usr/share';
const OWN_DATA = '$(insturl)/share';

/** Images of the default theme. Documents show some of them, such as the icon sets of Excel. */
const IMAGES = 'images_colibre.zip';
/** Images in it that only menus and toolbars show: 2 of 3 MB. */
const COMMAND_IMAGES = /^(cmd|\w+\/cmd)\//;

const HTML_TEMPLATE = 'share/template/common/internal/html.oth';

/**
 * Arranges unpacked packages so that LibreOffice runs from any folder, with its own loader and C library: `program/`,
 * `share/`, and `lib/` with exactly the libraries that `program/` needs. With `complete`, nothing is left out.
 */
export async function arrange(unpacked: string, into: string, { complete = false } = {}): Promise<void> {
  const source = join(unpacked, 'usr/lib/libreoffice');
  for (const folder of ['program', 'share']) {
    await cp(join(source, folder), join(into, folder), {
      recursive: true,
      verbatimSymlinks: true,
      filter: (file) => complete || !isLeftOut(relative(source, file)),
    });
  }
  // Folder of defaults for new profiles, which LibreOffice requires even if it is empty.
  await mkdir(join(into, 'presets'));
  if (!complete) {
    await copyImages(join(source, 'share/config', IMAGES), join(into, 'share/config', IMAGES));
    // Styles of HTML documents.
    await cp(join(source, HTML_TEMPLATE), join(into, HTML_TEMPLATE));
    await writeFile(join(into, 'share/registry/system-locale.xcd'), SYSTEM_LOCALE);
  }
  await mkdir(join(into, 'lib'));
  await settle(unpacked, source, into);
  await collectLibraries(unpacked, into, complete);
  await checkFiles(unpacked, into);
}

/** Whether the layer does without a file of the packages, which has its reason in `PINS`. */
function isLeftOut(path: string): boolean {
  return PINS.leftOut.some(({ files }) => files.test(path));
}

/** Where the layer has the folders of the packages. */
const PLACES: ReadonlyArray<readonly [RegExp, string]> = [
  [/^usr\/lib\/libreoffice\//, ''],
  [/^usr\/share\//, 'share/'],
  [/^usr\/lib\/[^/]+\/gconv\//, 'lib/gconv/'],
];

/**
 * Checks that each file of the packages is in the layer or left out for a reason, because LibreOffice
 * does without what is missing.
 */
export async function checkFiles(unpacked: string, into: string): Promise<void> {
  const entries = await readdir(unpacked, { recursive: true, withFileTypes: true });
  const missing = entries
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(unpacked, join(entry.parentPath, entry.name)))
    .filter((path) => {
      const [folder, place] = PLACES.find(([pattern]) => pattern.test(path)) ?? [/^/, ''];
      const own = path.replace(folder, place);
      return !isLeftOut(place === '' ? own : path) && !existsSync(join(into, own));
    });
  if (missing.length === 0) return;
  throw new Error(`The layer lacks files of its packages, such as ${missing[0]}; see PINS.leftOut.`);
}

/** Copies an archive of images without those of commands. */
async function copyImages(source: string, target: string): Promise<void> {
  const images = await openPromise(source);
  const kept = new ZipFile();
  for await (const entry of images.eachEntry()) {
    if (COMMAND_IMAGES.test(entry.fileName)) continue;
    const bytes = await buffer(await images.openReadStreamPromise(entry));
    kept.addBuffer(bytes, entry.fileName, { mtime: new Date(0), compress: false });
  }
  kept.end();
  await pipeline(kept.outputStream, createWriteStream(target));
}

/** Makes the bootstrap files independent of where Debian installs LibreOffice. */
async function settle(unpacked: string, source: string, into: string): Promise<void> {
  const fundamental = join(into, 'program/fundamentalrc');
  const text = await readFile(fundamental, 'utf8');
  await writeFile(fundamental, text.replace(/^BRAND_BASE_DIR=.*$/m, `BRAND_BASE_DIR=${ORIGIN}/..`));
  // The file in the package is a link to /etc.
  const start = ['CrashDumpEnable=false', 'HideEula=1', 'Logo=0', `URE_BOOTSTRAP=${ORIGIN}/fundamentalrc`];
  await writeFile(join(into, 'program/sofficerc'), `[Bootstrap]\n${start.join('\n')}\n`);
  const registry = join(into, 'share/registry');
  for await (const link of glob(join(registry, '*'))) {
    if (basename(link) === 'main.xcd' || link.endsWith('.sample')) await rm(link);
  }
  await copyFile(join(source, 'share/.registry/main.xcd'), join(registry, 'main.xcd'));
  // LibreOffice derives the encoding of file names from a locale with a language, and C.UTF-8 has none.
  const locale = join(into, 'share/locale/en_US.UTF-8');
  await mkdir(locale, { recursive: true });
  await copyFile(join(unpacked, 'usr/lib/locale/C.utf8/LC_CTYPE'), join(locale, 'LC_CTYPE'));
  const settings = await readFile(join(registry, 'main.xcd'), 'utf8');
  await writeFile(join(registry, 'main.xcd'), settings.replaceAll(DATA, OWN_DATA));
  for (const name of PINS.data) {
    await cp(join(unpacked, 'usr/share', name), join(into, 'share', name), { recursive: true });
  }
  // The C library's conversions for XML in other encodings than UTF-8.
  await cp(join(unpacked, 'usr/lib', platform().triplet, 'gconv'), join(into, 'lib/gconv'), {
    recursive: true,
    filter: (file) => !isLeftOut(relative(unpacked, file)),
  });
}

async function collectLibraries(unpacked: string, into: string, complete: boolean): Promise<void> {
  const { triplet, loader } = platform();
  const [all, program, lib] = [join(unpacked, 'usr/lib', triplet), join(into, 'program'), join(into, 'lib')];
  const users = (await readdir(program)).filter(
    (name) => /\.so(\.\d+)?$/.test(name) || name === 'soffice.bin',
  );
  const roots = [
    ...users.map((name) => join(program, name)),
    ...PINS.loadedByName.map((name) => join(all, name)),
  ];
  const needed = new Set<string>(PINS.loadedByName);
  for (const root of roots) {
    const listing = runCommand(join(all, loader), ['--library-path', `${program}:${all}`, '--list', root]);
    // A complete installation contains optional components whose libraries Debian selects at installation time.
    const listed = complete ? await listing.catch(() => '') : await listing;
    for (const file of listedFiles(listed)) {
      // LibreOffice must find its own libraries in `program/`, not in `lib/`.
      if (file.startsWith(all) && !/\/lib(uno_|jvm)/.test(file)) needed.add(basename(file));
    }
  }
  for (const name of [...needed, loader]) await copyFile(await realpath(join(all, name)), join(lib, name));
}
