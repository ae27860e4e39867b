import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { paragraph, sentence, word } from '../../../fixtures/words.ts';
import { randomNumbers } from '../../../helpers/random.ts';
import { slideParts } from './slides.ts';

const DOCUMENT = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const TYPE = 'application/vnd.openxmlformats-officedocument';

/** Office documents in the formats that can be written by hand: file name to bytes. */
export async function writeOffice(): Promise<ReadonlyMap<string, Buffer>> {
  return new Map([
    ['letter.docx', await writeText(8)],
    ['report.docx', await writeText(120)],
    ['list.xlsx', await writeTable(30)],
    ['ledger.xlsx', await writeTable(600)],
    ['talk.pptx', await writeSlides(4)],
    ['lecture.pptx', await writeSlides(20)],
    ['memo.rtf', writeRichText(10)],
    ['minutes.rtf', writeRichText(150)],
  ]);
}

/** Long documents: 300 pages of text, 50,000 rows, and 100 slides with a picture each. */
export async function writeLargeOffice(pictures: readonly Buffer[]): Promise<ReadonlyMap<string, Buffer>> {
  return new Map([
    ['large-text.docx', await writeText(2700)],
    ['large-table.xlsx', await writeTable(50_000)],
    ['large-slides.pptx', await writeSlides(100, pictures)],
  ]);
}

function writeText(paragraphs: number): Promise<Buffer> {
  const random = randomNumbers(paragraphs);
  const run = (text: string, style = '') => `<w:r><w:rPr>${style}</w:rPr><w:t>${text}</w:t></w:r>`;
  const block = (index: number) => {
    if (index % 10 === 0) return `<w:p>${run(sentence(random), '<w:b/><w:sz w:val="32"/>')}</w:p>`;
    if (index % 10 === 5) return textTable(random);
    return `<w:p>${run(paragraph(random))}${run(` ${sentence(random)}`, '<w:i/>')}</w:p>`;
  };
  const body = Array.from({ length: paragraphs }, (_, index) => block(index)).join('');
  return zip('word/document.xml', `${TYPE}.wordprocessingml.document.main+xml`, {
    'word/document.xml': `<w:document xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"><w:body>${body}</w:body></w:document>`,
  });
}

function textTable(random: () => number): string {
  const cell = () =>
    `<w:tc><w:tcPr><w:tcW w:w="2400" w:type="dxa"/></w:tcPr><w:p><w:r><w:t>${word(random)}</w:t></w:r></w:p></w:tc>`;
  const row = () => `<w:tr>${cell()}${cell()}${cell()}${cell()}</w:tr>`;
  const borders = ['top', 'left', 'bottom', 'right', 'insideH', 'insideV'].map(
    (side) => `<w:${side} w:val="single" w:sz="4"/>`,
  );
  return `<w:tbl><w:tblPr><w:tblBorders>${borders.join('')}</w:tblBorders></w:tblPr>${Array.from({ length: 6 }, row).join('')}</w:tbl>`;
}

function writeTable(rows: number): Promise<Buffer> {
  const random = randomNumbers(rows);
  const row = (number: number) => {
    const text = (column: string) =>
      `<c r="${column}${number}" t="inlineStr"><is><t>${word(random)}</t></is></c>`;
    const value = (column: string) => `<c r="${column}${number}"><v>${(random() * 1e4).toFixed(2)}</v></c>`;
    const sum = `<c r="F${number}"><f>SUM(C${number}:E${number})</f></c>`;
    return `<row r="${number}">${text('A')}${text('B')}${value('C')}${value('D')}${value('E')}${sum}</row>`;
  };
  const sheet = Array.from({ length: rows }, (_, index) => row(index + 1)).join('');
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  return zip('xl/workbook.xml', `${TYPE}.spreadsheetml.sheet.main+xml`, {
    'xl/workbook.xml': `<workbook xmlns="${main}" xmlns:r="${DOCUMENT}"><sheets><sheet name="Ledger" sheetId="1" r:id="rId1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': relations([['rId1', 'worksheet', 'worksheets/sheet1.xml']]),
    'xl/worksheets/sheet1.xml': `<worksheet xmlns="${main}"><sheetData>${sheet}</sheetData></worksheet>`,
  });
}

function writeSlides(count: number, pictures: readonly Buffer[] = []): Promise<Buffer> {
  return zip(
    'ppt/presentation.xml',
    `${TYPE}.presentationml.presentation.main+xml`,
    slideParts(count, relations, pictures),
  );
}

function writeRichText(paragraphs: number): Buffer {
  const random = randomNumbers(paragraphs);
  const block = (index: number) =>
    index % 8 === 0 ? `{\\b\\fs32 ${sentence(random)}\\par}` : `{\\fs22 ${paragraph(random)}\\par}`;
  const body = Array.from({ length: paragraphs }, (_, index) => block(index)).join('\n');
  return Buffer.from(`{\\rtf1\\ansi{\\fonttbl{\\f0 Liberation Serif;}}\\f0\n${body}\n}`);
}

function relations(list: ReadonlyArray<readonly [id: string, type: string, target: string]>): string {
  const each = list.map(
    ([id, type, target]) => `<Relationship Id="${id}" Type="${DOCUMENT}/${type}" Target="${target}"/>`,
  );
  return `<Relationships xmlns="${PACKAGE}/relationships">${each.join('')}</Relationships>`;
}

/** Zips the parts of an Office Open XML package, including the two that every package has. */
function zip(
  main: string,
  mainType: string,
  parts: Readonly<Record<string, string | Buffer>>,
): Promise<Buffer> {
  const kinds: Record<string, string> = {
    'xl/worksheets/sheet': `${TYPE}.spreadsheetml.worksheet+xml`,
    'ppt/slides/slide': `${TYPE}.presentationml.slide+xml`,
    'ppt/slideLayouts/slideLayout': `${TYPE}.presentationml.slideLayout+xml`,
    'ppt/slideMasters/slideMaster': `${TYPE}.presentationml.slideMaster+xml`,
    'ppt/theme/theme': `${TYPE}.theme+xml`,
  };
  const overrides = Object.keys(parts).flatMap((name) => {
    const type = name === main ? mainType : kinds[name.replace(/\d+\.xml$/, '')];
    return type ? [`<Override PartName="/${name}" ContentType="${type}"/>`] : [];
  });
  const all = {
    '[Content_Types].xml': `<Types xmlns="${PACKAGE}/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Default Extension="jpg" ContentType="image/jpeg"/>${overrides.join('')}</Types>`,
    '_rels/.rels': relations([['rId1', 'officeDocument', main]]),
    ...parts,
  };
  const archive = new ZipFile();
  for (const [name, content] of Object.entries(all)) {
    const xml = `<?xml version="1.0" encoding="UTF-8" standalone="yes"?>${content}`;
    archive.addBuffer(typeof content === 'string' ? Buffer.from(xml) : content, name);
  }
  archive.end();
  return buffer(archive.outputStream);
}
