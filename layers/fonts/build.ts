import { cp, glob, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { writeManifest } from '../build/manifest.ts';
import { type BuildOptions, buildOnce, cacheOf, recipeOf } from '../build/product.ts';
import { build as buildChromium } from '../chromium/build.ts';
import { unpackPackages } from '../debian/apt.ts';
import { writeFontCaches } from './cache.ts';
import { fontsConfiguration, officeConfiguration } from './configuration.ts';
import { addOwnFonts, findOwnFonts } from './own-fonts.ts';
import { PINS } from './pins.ts';
import { readRules } from './rules.ts';
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
