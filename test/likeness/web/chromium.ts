import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { launch } from 'puppeteer-core';
import sharp from 'sharp';
import { fontEnvironment } from '../../../functions/shared/worker/fonts.ts';

/** Milliseconds after load at which a page counts as settled. */
const SETTLE_TIME = 4000;
/** CSS pixels of a screenshot. */
const TILE = 4000;

/** What is outside of the window is missing in the image. */
const SIZE = `(() => {
  const root = document.documentElement;
  const cut = [root, document.body].some((one) => /hidden|clip/.test(getComputedStyle(one).overflowX));
  return [cut ? innerWidth : root.scrollWidth, root.scrollHeight];
})()`;

/** The same binary without any code of this project, used as documented. */
export async function startChromium(layers: string) {
  const home = await mkdtemp(join(tmpdir(), 'likeness-'));
  const browser = await launch({
    executablePath: join(layers, 'chromium/chromium'),
    pipe: true,
    userDataDir: join(home, 'profile'),
    env: {
      PATH: '/usr/bin:/bin',
      HOME: home,
      LANG: 'en_US.UTF-8',
      LD_LIBRARY_PATH: join(layers, 'chromium/lib'),
      ...fontEnvironment(layers, home),
    },
    args: [
      '--no-sandbox',
      '--lang=en-US',
      '--hide-scrollbars',
      '--font-render-hinting=none',
      '--force-color-profile=srgb',
      '--use-angle=swiftshader',
      '--enable-unsafe-swiftshader',
      // Only the server of the pages is reachable.
      '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
    ],
  });

  async function open(url: string, viewport: { width: number; height: number }) {
    const page = await browser.newPage();
    page.on('dialog', (dialog) => dialog.dismiss().catch(() => {}));
    await page.setViewport(viewport);
    await page.emulateMediaType('screen');
    await page.goto(url, { waitUntil: 'load', timeout: 30_000 });
    await sleep(SETTLE_TIME);
    return page;
  }

  return {
    image: async (url: string): Promise<Uint8Array> => {
      const page = await open(url, { width: 1024, height: 768 });
      const [width, height] = (await page.evaluate(SIZE)) as [number, number];
      // In parts, because Chromium repeats or truncates taller screenshots.
      const tiles: Uint8Array[] = [];
      for (let y = 0; y < height; y += TILE) {
        const clip = { x: 0, y, width, height: Math.min(TILE, height - y) };
        tiles.push(await page.screenshot({ clip, captureBeyondViewport: true }));
      }
      await page.close();
      if (tiles.length === 1) return tiles[0]!;
      const joined = sharp(
        tiles.map((tile) => Buffer.from(tile)),
        { join: { across: 1 } },
      );
      return joined.extract({ left: 0, top: 0, width, height }).png().toBuffer();
    },
    pdf: async (url: string): Promise<Uint8Array> => {
      const page = await open(url, { width: 718, height: 1047 });
      const margin = { top: '10mm', bottom: '10mm', left: '10mm', right: '10mm' };
      const pdf = await page.pdf({ format: 'a4', margin, printBackground: true, preferCSSPageSize: true });
      await page.close();
      return pdf;
    },
    close: async () => {
      await browser.close();
      await rm(home, { recursive: true, force: true });
    },
  };
}
