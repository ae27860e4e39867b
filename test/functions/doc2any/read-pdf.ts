import { PDFiumLibrary } from '@hyzyla/pdfium';

export interface ReadPage {
  readonly text: string;
  /** Points. */
  readonly width: number;
  readonly height: number;
  /** Colours of a small picture of the page, four bytes a pixel. */
  readonly pixels: Uint8Array;
}

/** Reads the pages of a PDF with PDFium: what stands on them and how large they are. */
export async function readPdf(pdf: Buffer, password?: string): Promise<ReadPage[]> {
  const library = await PDFiumLibrary.init();
  try {
    const document = await library.loadDocument(pdf, password);
    const pages: ReadPage[] = [];
    for (const page of document.pages()) {
      const { originalWidth: width, originalHeight: height } = page.getOriginalSize();
      const { data } = await page.render({ scale: 0.25, render: 'bitmap' });
      pages.push({ text: page.getText(), width, height, pixels: data });
    }
    document.destroy();
    return pages;
  } finally {
    library.destroy();
  }
}
