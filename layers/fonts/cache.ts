import { mkdtemp, rm, utimes } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { launch } from 'puppeteer-core';
import { runCommand } from '../build/command.ts';
import { platform } from '../build/platform.ts';

/** Programs with a fontconfig of their own. */
export interface FontPrograms {
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
