import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { paragraph, sentence, word } from '../fixtures/page.ts';
import { randomNumbers } from '../helpers/random.ts';

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

const DRAWING = 'http://schemas.openxmlformats.org/drawingml/2006/main';
const SPACES =
  `xmlns:a="${DRAWING}" xmlns:r="http://schemas.openxmlformats.org/officeDocument/2006/relationships" ` +
  'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main"';
const TREE = '<p:nvGrpSpPr><p:cNvPr id="1" name=""/><p:cNvGrpSpPr/><p:nvPr/></p:nvGrpSpPr><p:grpSpPr/>';

const PICTURE =
  '<p:pic><p:nvPicPr><p:cNvPr id="40" name="Picture"/><p:cNvPicPr/><p:nvPr/></p:nvPicPr><p:blipFill><a:blip r:embed="rId2"/><a:stretch><a:fillRect/></a:stretch></p:blipFill><p:spPr><a:xfrm><a:off x="5600000" y="2600000"/><a:ext cx="3000000" cy="2250000"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom></p:spPr></p:pic>';

type Relations = (list: ReadonlyArray<readonly [id: string, type: string, target: string]>) => string;

/**
 * The parts of a presentation: a master, a layout, a theme, and slides with a title, a list, colored shapes
 * and a picture.
 */
function slideParts(
  count: number,
  relations: Relations,
  pictures: readonly Buffer[],
): Readonly<Record<string, string | Buffer>> {
  const random = randomNumbers(count);
  const numbers = Array.from({ length: count }, (_, index) => index + 1);
  const ids = numbers.map((number) => `<p:sldId id="${255 + number}" r:id="rId${number + 1}"/>`).join('');
  const parts: Record<string, string | Buffer> = {
    'ppt/presentation.xml': `<p:presentation ${SPACES}><p:sldMasterIdLst><p:sldMasterId id="2147483648" r:id="rId1"/></p:sldMasterIdLst><p:sldIdLst>${ids}</p:sldIdLst><p:sldSz cx="9144000" cy="6858000"/><p:notesSz cx="6858000" cy="9144000"/></p:presentation>`,
    'ppt/_rels/presentation.xml.rels': relations([
      ['rId1', 'slideMaster', 'slideMasters/slideMaster1.xml'],
      ...numbers.map((number) => [`rId${number + 1}`, 'slide', `slides/slide${number}.xml`] as const),
    ]),
    'ppt/slideMasters/slideMaster1.xml': `<p:sldMaster ${SPACES}><p:cSld><p:spTree>${TREE}</p:spTree></p:cSld><p:clrMap bg1="lt1" tx1="dk1" bg2="lt2" tx2="dk2" accent1="accent1" accent2="accent2" accent3="accent3" accent4="accent4" accent5="accent5" accent6="accent6" hlink="hlink" folHlink="folHlink"/><p:sldLayoutIdLst><p:sldLayoutId id="2147483649" r:id="rId1"/></p:sldLayoutIdLst></p:sldMaster>`,
    'ppt/slideMasters/_rels/slideMaster1.xml.rels': relations([
      ['rId1', 'slideLayout', '../slideLayouts/slideLayout1.xml'],
      ['rId2', 'theme', '../theme/theme1.xml'],
    ]),
    'ppt/slideLayouts/slideLayout1.xml': `<p:sldLayout ${SPACES}><p:cSld><p:spTree>${TREE}</p:spTree></p:cSld></p:sldLayout>`,
    'ppt/slideLayouts/_rels/slideLayout1.xml.rels': relations([
      ['rId1', 'slideMaster', '../slideMasters/slideMaster1.xml'],
    ]),
    'ppt/theme/theme1.xml': theme(),
  };
  for (const [index, bytes] of pictures.entries()) parts[`ppt/media/picture${index}.jpg`] = bytes;
  for (const number of numbers) {
    const content = `${shapes(random)}${pictures.length > 0 ? PICTURE : ''}`;
    parts[`ppt/slides/slide${number}.xml`] =
      `<p:sld ${SPACES}><p:cSld><p:spTree>${TREE}${content}</p:spTree></p:cSld></p:sld>`;
    parts[`ppt/slides/_rels/slide${number}.xml.rels`] = relations([
      ['rId1', 'slideLayout', '../slideLayouts/slideLayout1.xml'],
      ...(pictures.length > 0
        ? [['rId2', 'image', `../media/picture${number % pictures.length}.jpg`] as const]
        : []),
    ]);
  }
  return parts;
}

function shapes(random: () => number): string {
  const lines = Array.from({ length: 6 }, () => sentence(random));
  const bars = Array.from({ length: 6 }, (_, index) => {
    const height = Math.round(300_000 + random() * 1_200_000);
    const color = Math.floor(random() * 0xffffff)
      .toString(16)
      .padStart(6, '0');
    return shape(10 + index, [800_000 + index * 1_300_000, 6_500_000 - height, 900_000, height], '', color);
  });
  return [
    shape(2, [500_000, 300_000, 8_100_000, 900_000], text([`${word(random)} ${word(random)}`], 3600)),
    shape(3, [500_000, 1_300_000, 8_100_000, 3_400_000], text(lines, 1600)),
    ...bars,
  ].join('');
}

function shape(id: number, [x, y, width, height]: readonly number[], words: string, color?: string): string {
  const fill = color ? `<a:solidFill><a:srgbClr val="${color}"/></a:solidFill>` : '<a:noFill/>';
  return `<p:sp><p:nvSpPr><p:cNvPr id="${id}" name="Shape ${id}"/><p:cNvSpPr/><p:nvPr/></p:nvSpPr><p:spPr><a:xfrm><a:off x="${x}" y="${y}"/><a:ext cx="${width}" cy="${height}"/></a:xfrm><a:prstGeom prst="rect"><a:avLst/></a:prstGeom>${fill}</p:spPr><p:txBody><a:bodyPr/>${words || '<a:p/>'}</p:txBody></p:sp>`;
}

function text(lines: readonly string[], size: number): string {
  return lines
    .map((line) => `<a:p><a:r><a:rPr lang="en-GB" sz="${size}"/><a:t>${line}</a:t></a:r></a:p>`)
    .join('');
}

function theme(): string {
  const names = 'dk1 lt1 dk2 lt2 accent1 accent2 accent3 accent4 accent5 accent6 hlink folHlink'.split(' ');
  const values = '000000 FFFFFF 1F497D EEECE1 4F81BD C0504D 9BBB59 8064A2 4BACC6 F79646 0000FF 800080'.split(
    ' ',
  );
  const colors = names
    .map((name, index) => `<a:${name}><a:srgbClr val="${values[index]}"/></a:${name}>`)
    .join('');
  const face = '<a:latin typeface="Liberation Sans"/><a:ea typeface=""/><a:cs typeface=""/>';
  const fill = '<a:solidFill><a:schemeClr val="phClr"/></a:solidFill>';
  const stroke = `<a:ln w="9525">${fill}</a:ln>`;
  const effect = '<a:effectStyle><a:effectLst/></a:effectStyle>';
  return `<a:theme xmlns:a="${DRAWING}" name="Plain"><a:themeElements><a:clrScheme name="Plain">${colors}</a:clrScheme><a:fontScheme name="Plain"><a:majorFont>${face}</a:majorFont><a:minorFont>${face}</a:minorFont></a:fontScheme><a:fmtScheme name="Plain"><a:fillStyleLst>${fill.repeat(3)}</a:fillStyleLst><a:lnStyleLst>${stroke.repeat(3)}</a:lnStyleLst><a:effectStyleLst>${effect.repeat(3)}</a:effectStyleLst><a:bgFillStyleLst>${fill.repeat(3)}</a:bgFillStyleLst></a:fmtScheme></a:themeElements></a:theme>`;
}
