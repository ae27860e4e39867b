import { PDFiumLibrary } from '@hyzyla/pdfium';
import { getDocument } from 'pdfjs-dist/legacy/build/pdf.mjs';
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

/** Draws a page, counted from 1, with PDFium on white, as a PNG. */
export async function drawPage(bytes: Uint8Array, page: number, scale = 1): Promise<Buffer> {
  const library = await PDFiumLibrary.init();
  try {
    const document = await library.loadDocument(Buffer.from(bytes));
    const { data, width, height } = await document.getPage(page - 1).render({ scale, render: 'bitmap' });
    return await sharp(data, { raw: { width, height, channels: 4 } })
      .flatten({ background: '#fff' })
      .png()
      .toBuffer();
  } finally {
    library.destroy();
  }
}
