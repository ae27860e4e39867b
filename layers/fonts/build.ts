import { cp, glob, mkdir, mkdtemp, rm, utimes, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { launch } from 'puppeteer-core';
import { runCommand } from '../build/command.ts';
import { writeManifest } from '../build/manifest.ts';
import { type BuildOptions, buildOnce, cacheOf, platform, recipeOf } from '../build/product.ts';
import { build as buildChromium } from '../chromium/build.ts';
import { unpackPackages } from '../debian/apt.ts';
import { fontsConfiguration, officeConfiguration, readRules } from './configuration.ts';
import { addOwnFonts, findOwnFonts } from './own-fonts.ts';
import { PINS } from './pins.ts';
import { buildStandIn, STAND_INS } from './stand-ins.ts';

const CHROMIUM = join(import.meta.dirname, '../chromium');

/**
 * Builds the fonts that all engines share, with those of the setting FONTS: `fonts.conf`, `office.conf`, `faces/`, `fontconfig/` (caches),
 * `manifest.json`, `licenses/`.
 */
export async function build(options: BuildOptions): Promise<void> {
  const { suite, packages, notoScripts, notoSerifScripts } = PINS;
  const chromium = join(dirname(options.into), 'chromium');
  await buildChromium({ ...options, into: chromium });
  const recipe = await Promise.all([import.meta.dirname, CHROMIUM].map(recipeOf));
  const own = await findOwnFonts();
  await buildOnce(options, [...recipe, own.recipe], async (directory) => {
    const unpacked = join(directory, 'unpacked');
    const debian = join(directory, 'debian');
    const faces = join(directory, 'faces');
    const unpacking = { suite, cache: join(cacheOf(options.into), 'apt'), progress: options.progress };
    const unpackedPackages = await unpackPackages({
      ...unpacking,
      packages,
      dependencies: false,
      into: unpacked,
    });
    await unpackPackages({ ...unpacking, packages: ['fontconfig'], into: debian });

    await mkdir(faces);
    const wanted = new Set([
      ...notoScripts.map((script) => `NotoSans${script}-Regular.ttf`),
      ...notoSerifScripts.map((script) => `NotoSerif${script}-Regular.ttf`),
    ]);
    for await (const file of glob(join(unpacked, 'usr/share/fonts/truetype/*/*.tt[fc]'))) {
      const name = basename(file);
      if (!file.includes('/noto/') || name === 'NotoColorEmoji.ttf' || wanted.has(name))
        await cp(file, join(faces, name));
    }
    for (const standIn of STAND_INS) {
      const { name, bytes } = await buildStandIn(standIn, faces);
      await writeFile(join(faces, name), bytes);
    }
    await addOwnFonts(own, faces, debian);
    const rules = await readRules(debian);
    await writeFile(join(directory, 'fonts.conf'), fontsConfiguration(rules));
    await writeFile(join(directory, 'office.conf'), officeConfiguration(rules));
    await writeFontCaches(directory, { debian, chromium });
    await writeManifest({ packages: unpackedPackages, unpacked, into: directory });
    for (const folder of [unpacked, debian]) await rm(folder, { recursive: true });
  });
}

/** Programs with a fontconfig of their own. */
interface FontPrograms {
  /** Folder of the unpacked package `fontconfig` and its dependencies. Its version is LibreOffice's and ImageMagick's. */
  readonly debian: string;
  /** Folder of Chromium's layer. */
  readonly chromium: string;
}

/**
 * Writes fontconfig's caches to a folder of fonts, one for each version of its format: without one, every engine reads
 * all faces when it starts. A cache is valid for any place of the folder, because the configuration maps its path, and
 * as long as `faces` has its time.
 */
export async function writeFontCaches(fonts: string, { debian, chromium }: FontPrograms): Promise<void> {
  await utimes(join(fonts, 'faces'), 0, 0);
  const environment = { FONTCONFIG_FILE: join(fonts, 'fonts.conf'), XDG_CACHE_HOME: fonts };
  const libraries = join(debian, 'usr/lib', platform().triplet);
  const command = ['--library-path', libraries, join(debian, 'usr/bin/fc-cache')];
  await runCommand(join(libraries, platform().loader), command, { environment });
  // Chromium is only available for this architecture.
  if (process.arch === 'x64') await showText(chromium, environment);
}

/** Shows text in Chromium, for which it needs a font. */
export async function showText(layer: string, environment: Readonly<Record<string, string>>): Promise<void> {
  const home = await mkdtemp(join(tmpdir(), 'fonts-'));
  const browser = await launch({
    executablePath: join(layer, 'chromium'),
    pipe: true,
    userDataDir: join(home, 'profile'),
    env: { HOME: home, LD_LIBRARY_PATH: join(layer, 'lib'), ...environment },
    // It only opens this page, and a build may run as root.
    args: ['--no-sandbox', '--disable-gpu'],
  });
  try {
    const page = await browser.newPage();
    await page.setContent('<p>Text');
    await page.screenshot();
  } finally {
    await browser.close();
    await rm(home, { recursive: true, force: true });
  }
}
