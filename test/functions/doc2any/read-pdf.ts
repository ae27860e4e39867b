import { PDFiumLibrary } from '@hyzyla/pdfium';

export interface ReadPage {
  readonly text: string;
  /** Points. */
  readonly width: number;
  readonly height: number;
}

/** Reads the pages of a PDF with PDFium: what stands on them and how large they are. */
export async function readPdf(pdf: Buffer, password?: string): Promise<ReadPage[]> {
  const library = await PDFiumLibrary.init();
  try {
    const document = await library.loadDocument(pdf, password);
    const pages = [...document.pages()].map((page) => {
      const { originalWidth: width, originalHeight: height } = page.getOriginalSize();
      return { text: page.getText(), width, height };
    });
    document.destroy();
    return pages;
  } finally {
    library.destroy();
  }
}
