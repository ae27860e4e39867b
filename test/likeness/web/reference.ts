import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { drawPage, readPdf } from '../../pdf.ts';
import type { Look, startChromium } from './chromium.ts';

/** The visit that scrolls through the page, so that everything has been in view. */
export const SCROLLED = 3;
/** Number of pages of a PDF that are drawn. */
const PAGES = 5;

type Chromium = Awaited<ReturnType<typeof startChromium>>;

/** Pictures that Chromium made of pages. They are kept, because neither the browser nor the packages change. */
export class References {
  readonly #chromium: Chromium;
  readonly #folder: string;

  constructor(chromium: Chromium, folder: string) {
    this.#chromium = chromium;
    this.#folder = folder;
  }

  /** Returns a PNG of the page, or of its PDF. `visit` tells visits to the same page apart. */
  async picture(kind: 'image' | 'pdf', origin: string, page: string, look: Look, visit = 1): Promise<Buffer> {
    const key = JSON.stringify([this.#chromium.version, kind, page, look, visit]);
    const path = join(this.#folder, `${createHash('sha256').update(key).digest('hex').slice(0, 24)}.png`);
    const kept = await readFile(path).catch(() => undefined);
    if (kept) return kept;
    const url = `${origin}/${page.split('/').map(encodeURIComponent).join('/')}`;
    const made =
      kind === 'image'
        ? await sharp(await this.#chromium.image(url, look, visit === SCROLLED), { limitInputPixels: false })
            .png()
            .toBuffer()
        : await drawPdf(await this.#chromium.pdf(url, look, visit === SCROLLED));
    await mkdir(this.#folder, { recursive: true });
    await writeFile(path, made);
    return made;
  }
}

/** Draws the first pages of a PDF at 72 DPI, one below the other. */
export async function drawPdf(pdf: Buffer): Promise<Buffer> {
  const { pages } = await readPdf(pdf);
  const drawn: Buffer[] = [];
  for (let page = 1; page <= Math.min(PAGES, pages.length); page++) drawn.push(await drawPage(pdf, page));
  if (drawn.length === 1) return drawn[0]!;
  return sharp(drawn, { join: { across: 1 } })
    .png()
    .toBuffer();
}
