import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Pdf, pdf } from 'pdf-to-img';
import { AnnotationMode, getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import type { Sharp } from 'sharp';
import sharp from 'sharp';
import { ConversionError } from '../../../shared/errors.ts';
import type { Size } from '../../../shared/options/geometry.ts';
import { channelsOf, type Drawing, type PageFrame } from '../drawing.ts';
import type { RasterImage } from '../options.ts';
import { damagedMessage, PASSWORD_MESSAGES } from '../options.ts';
import type { FallbackOperations } from './fallback.ts';
import { packageFile } from './package-file.ts';

// pdf-to-img does not tell pdf.js where its decoders and profiles are. Without them, JPEG 2000 and JBIG2 scans are
// blank.
const assets = dirname(packageFile('pdfjs-dist/package.json'));
const INITIAL = {
  wasmUrl: join(assets, 'wasm/'),
  iccUrl: join(assets, 'iccs/'),
  cMapUrl: join(assets, 'cmaps/'),
  cMapPacked: true,
  standardFontDataUrl: join(assets, 'standard_fonts/'),
  isEvalSupported: false,
  enableXfa: false,
  stopAtErrors: false,
  verbosity: 0,
};

/** A document that pdf.js has opened. Pages count from 1. */
export interface PdfjsDocument {
  readonly pageCount: number;
  /** Size of a page's crop box in points, with the page's rotation applied. */
  pageSize(page: number): Promise<Size>;
  text(page: number): Promise<string>;
  /** Returns the pixels of a frame, row by row. */
  draw(frame: PageFrame, drawing: Drawing): Promise<Uint8Array>;
  close(): Promise<void>;
}

/**
 * Opens a document with pdf.js, which reads some files that PDFium cannot. The caller closes it.
 * @throws ConversionError `PASSWORD_REQUIRED`, `WRONG_PASSWORD`, `CORRUPT_SOURCE`
 */
export async function openWithPdfjs(
  bytes: Uint8Array,
  password: string,
  { maxPixels }: { maxPixels: number },
): Promise<PdfjsDocument> {
  const initial = { ...INITIAL, maxImageSize: maxPixels, ...(password && { password }) };
  const refuse = (thrown: unknown) => refusal(thrown, password !== '');
  // pdf.js transfers the bytes it is given to its worker.
  const opened = await getDocument({ ...initial, data: new Uint8Array(bytes) }).promise.catch(refuse);
  // pdf-to-img draws all pages of a document at one scale and with the same annotations.
  let drawer: { readonly key: string; readonly document: Pdf } | undefined;

  async function pageSize(page: number): Promise<Size> {
    const { width, height } = (await opened.getPage(page).catch(refuse)).getViewport({ scale: 1 });
    return { width, height };
  }

  async function text(page: number): Promise<string> {
    const { items } = await (await opened.getPage(page).catch(refuse)).getTextContent();
    return items.map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : '')).join('');
  }

  async function draw(frame: PageFrame, drawing: Drawing): Promise<Uint8Array> {
    const points = await pageSize(frame.number);
    const upright = drawing.rotate % 180 === 0;
    const width = upright ? frame.page.width : frame.page.height;
    const height = upright ? frame.page.height : frame.page.width;
    // A stretched page, or a crop of a huge one, is drawn at the maximum size and then scaled.
    const wanted = Math.max(width / points.width, height / points.height);
    const scale = Math.min(wanted, Math.sqrt(maxPixels / (points.width * points.height)));
    const renderParams = {
      ...(drawing.transparent && { background: 'rgba(0,0,0,0)' }),
      ...(!drawing.annotations && { annotationMode: AnnotationMode.DISABLE }),
    };
    const key = JSON.stringify([scale, renderParams]);
    if (drawer?.key !== key) {
      await drawer?.document.destroy();
      const options = { scale, docInitParams: initial, renderParams };
      drawer = { key, document: await pdf(Buffer.from(bytes), options).catch(refuse) };
    }
    const image = await drawer.document.getPage(frame.number).catch(refuse);
    return shape(image, { width, height }, frame, drawing);
  }

  async function close(): Promise<void> {
    await drawer?.document.destroy();
    await opened.loadingTask.destroy();
  }

  return { pageCount: opened.numPages, pageSize, text, draw, close };
}

async function shape(image: Buffer, page: Size, frame: PageFrame, drawing: Drawing): Promise<Uint8Array> {
  const { left, top, width, height } = frame;
  const { rotate, transparent, color } = drawing;
  const sized = await sharp(image, { limitInputPixels: false })
    .resize(page.width, page.height, { fit: 'fill' })
    .toColorspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { channels } = sized.info;
  const rotated = await sharp(sized.data, { raw: { ...page, channels }, limitInputPixels: false })
    .rotate(rotate)
    .raw()
    .toBuffer({ resolveWithObject: true });
  const raw = { width: rotated.info.width, height: rotated.info.height, channels };
  const cut = sharp(rotated.data, { raw, limitInputPixels: false }).extract({ left, top, width, height });
  if (transparent) {
    const pixels = await cut.clone().ensureAlpha().raw().toBuffer();
    // One shade per pixel, because sharp drops the opacity here.
    if (color !== 'rgb') spread(await cut.grayscale().raw().toBuffer(), pixels);
    return pixels;
  }
  const flat = cut.flatten({ background: '#fff' });
  const pixels = channelsOf(drawing) === 1 ? flat.grayscale().toColorspace('b-w') : flat;
  return pixels.raw().toBuffer();
}

/** Sets red, green and blue of each pixel to its shade of gray. */
function spread(shades: Uint8Array, pixels: Uint8Array): void {
  for (const [at, shade] of shades.entries()) pixels.fill(shade, 4 * at, 4 * at + 3);
}

function refusal(thrown: unknown, passwordGiven: boolean): never {
  const needsPassword = thrown instanceof Error && thrown.name === 'PasswordException';
  if (!needsPassword) {
    throw new ConversionError('CORRUPT_SOURCE', damagedMessage(), { cause: thrown });
  }
  const code = passwordGiven ? 'WRONG_PASSWORD' : 'PASSWORD_REQUIRED';
  throw new ConversionError(code, PASSWORD_MESSAGES[code]());
}

type Write = (image: Sharp, options: { quality: number; effort: number }) => Sharp;

const WRITERS: Readonly<Record<RasterImage, Write>> = {
  avif: (image, options) => image.avif(options),
  webp: (image, options) => image.webp(options),
};

/** Writes pixels that the native process drew, in a format that it cannot write. */
export async function encodeRaster(request: FallbackOperations['encode']): Promise<void> {
  const { raster, target, format, quality, density } = request;
  const { width, height, channels } = request.image;
  const image = sharp(readFileSync(raster), { raw: { width, height, channels }, limitInputPixels: false });
  const gray = channels === 1 ? image.toColorspace('b-w') : image;
  await WRITERS[format](gray, { quality, effort: 2 }).withDensity(density[0]).toFile(target);
}
