import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import {
  KnownDevices,
  launch,
  type MediaFeature,
  type Page,
  type PDFOptions,
  type ScreenshotOptions,
} from 'puppeteer-core';
import sharp from 'sharp';
import { fontEnvironment } from '../../functions/engines/worker/sandbox.ts';

/** How the other browser shows a page: settings that Chromium itself defines. */
export interface Look {
  readonly viewport?: {
    readonly width: number;
    readonly height: number;
    readonly deviceScaleFactor?: number;
  };
  readonly device?: keyof typeof KnownDevices;
  readonly media?: 'print' | 'screen';
  readonly features?: readonly MediaFeature[];
  readonly javascript?: boolean;
  readonly images?: boolean;
  readonly timezone?: string;
  readonly locale?: string;
  /** CSS to add. */
  readonly css?: string;
  readonly pdf?: PDFOptions;
  /** `window` is what the window shows, else the whole page. */
  readonly image?: ScreenshotOptions & { readonly window?: boolean; readonly selector?: string };
}

/**
 * How a page is visited: as it is, twice, for its look may be random; scrolling through it; for longer; with
 * the table headers of print media on each page, with what is fixed to the bottom of the window at the bottom
 * of the page, and with a window that is as tall as the page for a moment.
 */
export type Visit = 'first' | 'again' | 'scrolled' | 'later' | 'tables' | 'lowered' | 'resized';

/** Delay after load at which a page counts as settled, in milliseconds. */
export const SETTLE_TIME = 4000;
/** Delay after load at which a settled page still looks the same, in milliseconds. */
export const LATER = 9000;
/** Time for a page to react to a wider window, in milliseconds. */
const REACTION_TIME = 2000;
/** CSS pixels of a screenshot. */
const TILE = 4000;

/** Converts millimeters for puppeteer, whose own unit `mm` is 0.01 % too long. */
export const paperPixels = (millimeters: number): number => (millimeters / 25.4) * 96;

const SIDE = paperPixels(10);
const MARGIN = { top: SIDE, bottom: SIDE, left: SIDE, right: SIDE };
const A4 = { width: paperPixels(210), height: paperPixels(297) };

/** Measures the content, because an image lacks everything outside of the window. */
const SIZE = `(() => {
  const root = document.documentElement;
  const cut = [root, document.body].some((one) => one && /hidden|clip/.test(getComputedStyle(one).overflowX));
  return [cut ? innerWidth : root.scrollWidth, root.scrollHeight];
})()`;

/** Makes the window as wide as the content of the settled page, as wkhtmltoimage does. */
async function widen(page: Page): Promise<void> {
  const viewport = page.viewport()!;
  const [width] = (await page.evaluate(SIZE)) as [number, number];
  if (width <= viewport.width) return;
  await page.setViewport({ ...viewport, width });
  await sleep(REACTION_TIME);
}

/** Scrolls through the whole page and back to its top. */
async function scrollThrough(page: Page): Promise<void> {
  const height = Number(await page.evaluate('document.documentElement.scrollHeight'));
  for (let y = 0; y < height; y += 300) {
    await page.evaluate(`scrollTo(0, ${y})`);
    await sleep(100);
  }
  await sleep(1500);
  await page.evaluate('scrollTo(0, 0)');
  await sleep(500);
}

/** Makes the window as tall as the page for a moment. */
async function resize(page: Page): Promise<void> {
  const viewport = page.viewport()!;
  const [, height] = (await page.evaluate(SIZE)) as [number, number];
  await page.setViewport({ ...viewport, height: Math.max(height, viewport.height) });
  await sleep(REACTION_TIME);
  await page.setViewport(viewport);
  await sleep(REACTION_TIME);
}

const LOWER = `(() => {
  const distance = document.documentElement.scrollHeight - innerHeight;
  for (const element of document.querySelectorAll('body *')) {
    const style = element.computedStyleMap();
    if (getComputedStyle(element).position !== 'fixed') continue;
    if (String(style.get('bottom')) === 'auto' || String(style.get('top')) !== 'auto') continue;
    element.style.cssText += '; transition: none !important; translate: 0 ' + distance + 'px !important';
  }
})()`;

/** Style sheet of a browser's print media. */
const TABLES = '@layer { thead, tfoot { break-inside: avoid } }';

export type Chromium = Awaited<ReturnType<typeof startChromium>>;

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
      TZ: 'UTC',
      LD_LIBRARY_PATH: join(layers, 'chromium/lib'),
      ...fontEnvironment(layers),
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

  let isClosing = false;
  browser.on('disconnected', () => {
    const { exitCode, signalCode } = browser.process() ?? {};
    if (!isClosing) console.error(`The other browser ended: ${exitCode ?? signalCode ?? 'disconnected'}`);
  });

  async function open(url: string, look: Look, visit: Visit) {
    const { viewport, device, media = 'screen', features = [], timezone, locale, css } = look;
    const context = await browser.createBrowserContext();
    const page = await context.newPage();
    page.on('dialog', (dialog) => dialog.dismiss().catch(() => {}));
    if (device) await page.emulate(KnownDevices[device]);
    else
      await page.setViewport(
        viewport ?? (look.pdf ? { width: 718, height: 1047 } : { width: 1024, height: 768 }),
      );
    await page.emulateMediaType(media);
    if (features.length > 0) await page.emulateMediaFeatures([...features]);
    if (timezone) await page.emulateTimezone(timezone);
    if (locale) {
      const protocol = await page.createCDPSession();
      await protocol.send('Emulation.setLocaleOverride', { locale });
      const userAgent = await browser.userAgent();
      await protocol.send('Network.setUserAgentOverride', { userAgent, acceptLanguage: locale });
    }
    if (look.javascript === false) await page.setJavaScriptEnabled(false);
    if (look.images === false) {
      await page.setRequestInterception(true);
      page.on('request', (request) =>
        request.resourceType() === 'image' ? request.abort() : request.continue(),
      );
    }
    if (css) {
      await page.goto(url, { waitUntil: 'domcontentloaded', timeout: 60_000 });
      await page.addStyleTag({ content: css });
      await page.waitForFunction("document.readyState === 'complete'", { timeout: 60_000 });
    } else {
      await page.goto(url, { waitUntil: 'load', timeout: 60_000 });
    }
    await sleep(visit === 'later' ? LATER : SETTLE_TIME);
    if (!look.pdf && !look.image) await widen(page);
    if (visit === 'scrolled') await scrollThrough(page);
    if (visit === 'resized') await resize(page);
    if (!look.pdf && (visit === 'lowered' || visit === 'resized')) await page.evaluate(LOWER);
    if (look.pdf && (visit === 'tables' || visit === 'resized')) await page.addStyleTag({ content: TABLES });
    return { page, close: () => context.close() };
  }

  return {
    version: await browser.version(),
    image: async (url: string, look: Look, visit: Visit = 'first'): Promise<Buffer> => {
      const { page, close } = await open(url, look, visit);
      const { selector, window, ...options } = look.image ?? {};
      try {
        if (selector !== undefined) {
          const element = await page.$(selector);
          return Buffer.from(await element!.screenshot(options));
        }
        if (window || options.clip) return Buffer.from(await page.screenshot(options));
        const [width, height] = (await page.evaluate(SIZE)) as [number, number];
        const scale = look.viewport?.deviceScaleFactor ?? 1;
        // Chromium makes the window 1x1 for a moment to capture beyond it, which scripts and transitions must not notice.
        await page.addStyleTag({ content: '*, ::before, ::after { transition: none !important }' });
        await page.setJavaScriptEnabled(false);
        // In parts, because Chromium repeats or truncates taller screenshots.
        const tiles: Buffer[] = [];
        for (let y = 0; y < height; y += TILE) {
          const clip = { x: 0, y, width, height: Math.min(TILE, height - y) };
          tiles.push(Buffer.from(await page.screenshot({ ...options, clip, captureBeyondViewport: true })));
        }
        if (tiles.length === 1) return tiles[0]!;
        const joined = sharp(tiles, { join: { across: 1 } });
        return joined
          .extract({ left: 0, top: 0, width: Math.round(width * scale), height: Math.round(height * scale) })
          .png()
          .toBuffer();
      } finally {
        await close();
      }
    },
    pdf: async (url: string, look: Look, visit: Visit = 'first'): Promise<Buffer> => {
      const { page, close } = await open(url, { ...look, pdf: look.pdf ?? {} }, visit);
      try {
        const defaults = { ...A4, margin: MARGIN, printBackground: true, preferCSSPageSize: true };
        return Buffer.from(await page.pdf({ ...defaults, ...look.pdf }));
      } finally {
        await close();
      }
    },
    isRunning: () => browser.connected,
    close: async () => {
      isClosing = true;
      await browser.close().catch(() => {});
      await rm(home, { recursive: true, force: true });
    },
  };
}
