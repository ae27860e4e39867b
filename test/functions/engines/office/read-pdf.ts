import { loadPdfium } from '../../../helpers/pdf.ts';

export interface ReadPage {
  readonly text: string;
  /** Points. */
  readonly width: number;
  readonly height: number;
  /** A small rendering of the page, four bytes per pixel. */
  readonly pixels: Uint8Array;
}

/** Reads the pages of a PDF with PDFium: text, size and pixels. */
export async function readPdf(pdf: Buffer, password?: string): Promise<ReadPage[]> {
  const document = await (await loadPdfium()).loadDocument(pdf, password);
  try {
    const pages = [...document.pages()];
    // All texts first, because drawing breaks PDFium's text layer.
    const texts = pages.map((page) => page.getText());
    const read: ReadPage[] = [];
    for (const [index, page] of pages.entries()) {
      const { originalWidth: width, originalHeight: height } = page.getOriginalSize();
      const { data } = await page.render({ scale: 0.25, render: 'bitmap' });
      read.push({ text: texts[index]!, width, height, pixels: data });
    }
    return read;
  } finally {
    document.destroy();
  }
}
