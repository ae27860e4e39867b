import { cp, glob, mkdir, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { writeManifest } from '../build/manifest.ts';
import { type BuildOptions, buildOnce, cacheOf, recipeOf } from '../build/product.ts';
import { unpackPackages } from '../debian/apt.ts';
import { fontsConfiguration, officeConfiguration } from './configuration.ts';
import { PINS } from './pins.ts';
import { buildStandIn, STAND_INS } from './stand-ins.ts';

/** Builds the fonts that browser and office share: `fonts.conf`, `office.conf`, `faces/`, `manifest.json`, `licenses/`. */
export async function build(options: BuildOptions): Promise<void> {
  const { suite, packages, notoScripts, notoSerifScripts } = PINS;
  await buildOnce(options, await recipeOf(import.meta.dirname), async (directory) => {
    const unpacked = join(directory, 'unpacked');
    const faces = join(directory, 'faces');
    const unpackedPackages = await unpackPackages({
      packages,
      dependencies: false,
      suite,
      into: unpacked,
      cache: join(cacheOf(options.into), 'apt'),
      progress: options.progress,
    });

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
    await writeFile(join(directory, 'fonts.conf'), fontsConfiguration());
    await writeFile(join(directory, 'office.conf'), officeConfiguration());
    await writeManifest({ packages: unpackedPackages, unpacked, into: directory });
    await rm(unpacked, { recursive: true });
  });
}
