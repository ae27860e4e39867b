import { dirname, join } from 'node:path';
import { type Pdf, pdf } from 'pdf-to-img';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
import sharp from 'sharp';
import type { Size } from '../../shared/options/parameters.ts';
import { packageFile } from '../../shared/package-file.ts';
import { type Drawing, type PdfDocument, PdfFailure, type Raster } from './document.ts';

// pdf-to-img sets no addresses for the decoders and profiles: without them JPEG 2000 and JBIG2 scans come out blank.
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

/**
 * Opens a document with pdf.js, which reads some files that PDFium refuses. The caller closes it.
 * @throws PdfFailure
 */
export async function openWithPdfjs(
  bytes: Uint8Array,
  password: string,
  { maxPixels }: { maxPixels: number },
): Promise<PdfDocument> {
  const initial = { ...INITIAL, maxImageSize: maxPixels, ...(password && { password }) };
  // Each reader takes its bytes away from us.
  const opened = await getDocument({ ...initial, data: new Uint8Array(bytes) }).promise.catch(refuse);
  // pdf-to-img draws all pages of a document at one scale.
  let drawer: { readonly scale: number; readonly document: Pdf } | undefined;

  async function pageSize(page: number): Promise<Size> {
    const { width, height } = (await opened.getPage(page).catch(refuse)).getViewport({ scale: 1 });
    return { width, height };
  }

  async function draw(page: number, drawing: Drawing): Promise<Raster> {
    const points = await pageSize(page);
    const upright = drawing.rotate % 180 === 0;
    const width = upright ? drawing.page.width : drawing.page.height;
    const height = upright ? drawing.page.height : drawing.page.width;
    // A page stretched out of shape, or a crop of a huge one, is drawn as large as we allow and scaled.
    const wanted = Math.max(width / points.width, height / points.height);
    const scale = Math.min(wanted, Math.sqrt(maxPixels / (points.width * points.height)));
    const transparent = drawing.transparent ? { background: 'rgba(0,0,0,0)' } : {};
    if (drawer?.scale !== scale) {
      await drawer?.document.destroy();
      const options = { scale, docInitParams: initial, renderParams: transparent };
      drawer = { scale, document: await pdf(Buffer.from(bytes), options).catch(refuse) };
    }
    const picture = await drawer.document.getPage(page).catch(refuse);
    return shape(picture, { width, height }, drawing);
  }

  async function close(): Promise<void> {
    await drawer?.document.destroy();
    await opened.loadingTask.destroy();
  }

  return { pageCount: opened.numPages, pageSize, draw, close };
}

async function shape(picture: Buffer, page: Size, drawing: Drawing): Promise<Raster> {
  const { left, top, width, height, rotate, transparent, colour } = drawing;
  const sized = await sharp(picture, { limitInputPixels: false })
    .resize(page.width, page.height, { fit: 'fill' })
    .toColourspace('srgb')
    .raw()
    .toBuffer({ resolveWithObject: true });
  const { channels } = sized.info;
  const turned = await sharp(sized.data, { raw: { ...page, channels }, limitInputPixels: false })
    .rotate(rotate)
    .raw()
    .toBuffer({ resolveWithObject: true });
  const raw = { width: turned.info.width, height: turned.info.height, channels };
  const cut = sharp(turned.data, { raw, limitInputPixels: false }).extract({ left, top, width, height });
  const finished = transparent ? cut.ensureAlpha() : cut.flatten({ background: '#fff' });
  const grey = colour !== 'rgb' && !transparent;
  const pixels = await (grey ? finished.greyscale() : finished).raw().toBuffer();
  return { pixels, width, height, channels: grey ? 1 : transparent ? 4 : 3 };
}

function refuse(thrown: unknown): never {
  const password = thrown instanceof Error && thrown.name === 'PasswordException';
  throw new PdfFailure(password ? 'password' : 'damaged', 'pdf.js refused.', thrown);
}
