import { getDocument, type PDFDocumentProxy } from 'pdfjs-dist/legacy/build/pdf.mjs';

/** Where a PDF breaks its lines and pages, and in which fonts. */
export interface Layout {
  /** Sorted letters and digits of each line, by page, because PDFs contain text from right to left in various orders. */
  readonly pages: ReadonlyArray<readonly string[]>;
  /** Number of characters by the name of their font. */
  readonly fonts: ReadonlyMap<string, number>;
}

interface Piece {
  readonly str: string;
  readonly fontName: string;
  readonly transform: readonly number[];
}

/** Fonts whose characters stand for other signs, such as bullets. Word and LibreOffice write different characters for the same sign. */
const SYMBOLS = /Symbol|Wingdings|Webdings/;

/** Pieces of a line may be raised or lowered by this part of the font size. */
const RAISED = 0.4;

/** Returns the names of the programs that wrote a PDF. */
export function readWriter(bytes: Uint8Array): Promise<string> {
  return withDocument(bytes, async (document) => {
    const { info } = (await document.getMetadata()) as { info: { Producer?: string; Creator?: string } };
    return `${info.Producer ?? ''} ${info.Creator ?? ''}`;
  });
}

export function readLayout(bytes: Uint8Array): Promise<Layout> {
  return withDocument(bytes, async (document) => {
    const fonts = new Map<string, number>();
    const pages: string[][] = [];
    for (let number = 1; number <= document.numPages; number++) {
      const page = await document.getPage(number);
      const { items } = await page.getTextContent();
      // Loads the fonts, of which the text knows only an id.
      await page.getOperatorList();
      const familyOf = (font: string) => {
        const { name = '' } = page.commonObjs.has(font)
          ? (page.commonObjs.get(font) as { name?: string })
          : {};
        return name.replace(/^[A-Z]{6}\+/, '');
      };
      const pieces = items.filter(
        (item): item is typeof item & Piece =>
          'str' in item && item.str.trim() !== '' && !SYMBOLS.test(familyOf(item.fontName)),
      );
      pages.push(linesOf(pieces));
      for (const { str, fontName } of pieces) {
        const family = familyOf(fontName);
        fonts.set(family, (fonts.get(family) ?? 0) + str.length);
      }
      page.cleanup();
    }
    return { pages, fonts };
  });
}

async function withDocument<Result>(
  bytes: Uint8Array,
  read: (document: PDFDocumentProxy) => Promise<Result>,
): Promise<Result> {
  const task = getDocument({ data: new Uint8Array(bytes), verbosity: 0 });
  try {
    return await read(await task.promise);
  } finally {
    await task.destroy();
  }
}

function linesOf(pieces: readonly Piece[]): string[] {
  const lines: { y: number; pieces: Piece[] }[] = [];
  for (const piece of pieces) {
    const y = piece.transform[5]!;
    const height = Math.hypot(piece.transform[2]!, piece.transform[3]!);
    const line = lines.find((each) => Math.abs(each.y - y) <= RAISED * height);
    if (line) line.pieces.push(piece);
    else lines.push({ y, pieces: [piece] });
  }
  return lines
    .sort((one, other) => other.y - one.y)
    .map((line) => {
      const text = line.pieces.map(({ str }) => str).join('');
      return [...text.normalize('NFKC').replace(/[^\p{L}\p{N}]/gu, '')].sort().join('');
    })
    .filter((text) => text !== '');
}
