import { PDFiumLibrary } from '@hyzyla/pdfium';
import { getDocument, PermissionFlag } from 'pdfjs-dist/legacy/build/pdf.mjs';
import sharp from 'sharp';

export interface PdfFacts {
  readonly title: string;
  readonly pages: ReadonlyArray<{
    /** Points. */
    readonly width: number;
    readonly height: number;
    /** Runs of white space are one space. */
    readonly text: string;
    /** URLs of its links. */
    readonly links: readonly string[];
  }>;
}

/** Reads a PDF with pdf.js: its pages' sizes, texts and links. */
export async function readPdf(bytes: Uint8Array): Promise<PdfFacts> {
  const task = getDocument({ data: new Uint8Array(bytes), verbosity: 0 });
  try {
    const document = await task.promise;
    const pages = [];
    for (let number = 1; number <= document.numPages; number++) {
      const page = await document.getPage(number);
      const { width, height } = page.getViewport({ scale: 1 });
      const { items } = await page.getTextContent();
      const text = items
        .map((item) => ('str' in item ? `${item.str}${item.hasEOL ? '\n' : ''}` : ''))
        .join('');
      const annotations = (await page.getAnnotations()) as ReadonlyArray<{ url?: string }>;
      const links = annotations.flatMap(({ url }) => (url === undefined ? [] : [url]));
      pages.push({ width, height, text: text.replace(/\s+/g, ' ').trim(), links });
    }
    const { info } = (await document.getMetadata()) as { info: { Title?: string } };
    return { title: info.Title ?? '', pages };
  } finally {
    await task.destroy();
  }
}

/** Returns what the PDF allows a reader to do, or everything if it is not encrypted. */
export async function permissionsOf(bytes: Uint8Array, password = ''): Promise<readonly number[]> {
  const document = await getDocument({ data: new Uint8Array(bytes), verbosity: 0, password }).promise;
  const permissions = await document.getPermissions();
  await document.loadingTask.destroy();
  return permissions ?? Object.values(PermissionFlag);
}

let library: Promise<PDFiumLibrary> | undefined;

/** Loads PDFium once, because that takes as long as drawing some pages. */
export function loadPdfium(): Promise<PDFiumLibrary> {
  library ??= PDFiumLibrary.init();
  return library;
}

/** Draws a page, counted from 1, with PDFium on white, as a PNG. */
export async function drawPage(bytes: Uint8Array, page: number, scale = 1): Promise<Buffer> {
  const document = await (await loadPdfium()).loadDocument(Buffer.from(bytes));
  try {
    const { data, width, height } = await document.getPage(page - 1).render({ scale, render: 'bitmap' });
    return await sharp(data, { raw: { width, height, channels: 4 } })
      .flatten({ background: '#fff' })
      .png()
      .toBuffer();
  } finally {
    document.destroy();
  }
}
