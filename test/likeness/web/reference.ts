import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { drawPage, readPdf } from '../../helpers/pdf.ts';
import type { Chromium, Look, Visit } from './chromium.ts';

/** Number of pages of a PDF that are drawn. */
const PAGES = 5;

/** How often Chromium tries to show a page, the last time in a browser of its own. */
const ATTEMPTS = 3;

/** Chromium itself could not show the page, so there is nothing to compare with. */
export class NoReference extends Error {}

/**
 * Pictures that Chromium made of pages. They are kept, because neither the browser nor the packages change. A
 * page that fails is tried again, in a new browser if the first one has ended.
 */
export class References {
  readonly #start: () => Promise<Chromium>;
  readonly #folder: string;
  #current: Promise<Chromium> | undefined;

  constructor(start: () => Promise<Chromium>, folder: string) {
    this.#start = start;
    this.#folder = folder;
  }

  /**
   * Returns a PNG of the page, or of its PDF.
   * @throws NoReference
   */
  async picture(
    kind: 'image' | 'pdf',
    origin: string,
    page: string,
    look: Look,
    visit: Visit,
  ): Promise<Buffer> {
    const { version } = await this.#browser();
    const key = JSON.stringify([version, kind, page, look, visit]);
    const path = join(this.#folder, `${createHash('sha256').update(key).digest('hex').slice(0, 24)}.png`);
    const kept = await readFile(path).catch(() => undefined);
    if (kept) return kept;
    const url = `${origin}/${page.split('/').map(encodeURIComponent).join('/')}`;
    const made =
      kind === 'image'
        ? await sharp(await this.#retry(({ image }) => image(url, look, visit)), {
            limitInputPixels: false,
          })
            .png()
            .toBuffer()
        : await drawPdf(await this.#retry(({ pdf }) => pdf(url, look, visit)));
    await mkdir(this.#folder, { recursive: true });
    await writeFile(path, made);
    return made;
  }

  async close(): Promise<void> {
    await (await this.#current)?.close();
  }

  #browser(): Promise<Chromium> {
    this.#current ??= this.#start();
    return this.#current;
  }

  async #retry<Value>(work: (chromium: Chromium) => Promise<Value>): Promise<Value> {
    for (let attempt = 1; attempt < ATTEMPTS; attempt++) {
      const current = this.#browser();
      const chromium = await current;
      try {
        return await work(chromium);
      } catch {
        if (!chromium.isRunning() && this.#current === current) this.#current = undefined;
      }
    }
    const own = await this.#start();
    try {
      return await work(own);
    } catch (cause) {
      throw new NoReference(cause instanceof Error ? cause.message : String(cause), { cause });
    } finally {
      await own.close();
    }
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
