import { deflateSync } from 'node:zlib';
import { randomNumbers } from '../../../random.ts';
import { drawPage, type PageKind } from './page.ts';
import { readFont } from './truetype.ts';

/** An image for pages, as the bytes of an RGB JPEG. */
export interface Picture {
  readonly jpeg: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Writes a PDF of A4 pages of the given kinds, with one fully embedded font, and an image if a page shows one. */
export function writePdf(kinds: readonly PageKind[], font: Buffer, picture: Picture, seed: number): Buffer {
  const facts = readFont(font);
  const random = randomNumbers(seed);
  const objects: Buffer[] = [];
  const add = (text: string) => objects.push(Buffer.from(text, 'latin1'));
  const addStream = (dictionary: string, bytes: Buffer) =>
    objects.push(
      Buffer.concat([
        Buffer.from(`<< ${dictionary} /Length ${bytes.length} >>\nstream\n`),
        bytes,
        Buffer.from('\nendstream'),
      ]),
    );

  const firstPage = 7;
  const pageObjects = kinds.map((_, index) => firstPage + 2 * index);
  add('<< /Type /Catalog /Pages 2 0 R >>');
  add(`<< /Type /Pages /Count ${kinds.length} /Kids [${pageObjects.map((id) => `${id} 0 R`).join(' ')}] >>`);
  add(
    '<< /Type /Font /Subtype /TrueType /BaseFont /BenchSans /Encoding /WinAnsiEncoding /FirstChar 32 /LastChar 126 ' +
      `/Widths [${facts.widths.join(' ')}] /FontDescriptor 4 0 R >>`,
  );
  add(
    `<< /Type /FontDescriptor /FontName /BenchSans /Flags 32 /FontBBox [${facts.box.join(' ')}] /ItalicAngle 0 ` +
      `/Ascent ${facts.ascent} /Descent ${facts.descent} /CapHeight 700 /StemV 80 /FontFile2 5 0 R >>`,
  );
  addStream(`/Length1 ${font.length} /Filter /FlateDecode`, deflateSync(font));
  const shown = kinds.some((kind) => kind === 'picture' || kind === 'scan');
  addStream(
    `/Type /XObject /Subtype /Image /Width ${picture.width} /Height ${picture.height} /ColorSpace /DeviceRGB ` +
      '/BitsPerComponent 8 /Filter /DCTDecode',
    shown ? picture.jpeg : Buffer.alloc(0),
  );
  kinds.forEach((kind, index) => {
    add(
      '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /Font << /F1 3 0 R >> ' +
        `/XObject << /Im1 6 0 R >> >> /Contents ${pageObjects[index]! + 1} 0 R >>`,
    );
    const content = drawPage(kind, { page: index + 1, random, widths: facts.widths });
    addStream('/Filter /FlateDecode', deflateSync(Buffer.from(content, 'latin1')));
  });
  return assemble(objects);
}

/** Joins numbered objects, a cross-reference table and the trailer. The first object is the catalog. */
function assemble(objects: readonly Buffer[]): Buffer {
  const parts: Buffer[] = [Buffer.from('%PDF-1.7\n%\xe2\xe3\xcf\xd3\n', 'latin1')];
  const places: number[] = [];
  let length = parts[0]!.length;
  objects.forEach((object, index) => {
    places.push(length);
    const whole = Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), object, Buffer.from('\nendobj\n')]);
    parts.push(whole);
    length += whole.length;
  });
  const rows = places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('');
  const size = objects.length + 1;
  parts.push(
    Buffer.from(
      `xref\n0 ${size}\n0000000000 65535 f \n${rows}trailer\n<< /Size ${size} /Root 1 0 R >>\n` +
        `startxref\n${length}\n%%EOF\n`,
    ),
  );
  return Buffer.concat(parts);
}
