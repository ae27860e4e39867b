import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { readParts } from '../../../functions/engines/office/detect/archive.ts';
import { pixel } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';
import { makeCompoundFile, makeDocx } from '../engines/office/detect/archives.ts';
import { readPdf } from '../engines/office/read-pdf.ts';

const { convert, convertOne } = useEngine(doc2any, createEngine);

/** The types of relationships within an office document. */
const OFFICE_TYPE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const WORDS = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';

const heading =
  '<w:p><w:pPr><w:spacing w:line="416"/></w:pPr><w:r><w:rPr><w:sz w:val="32"/></w:rPr><w:t>H</w:t></w:r></w:p>';
const line = '<w:p><w:r><w:rPr><w:sz w:val="21"/></w:rPr><w:t>L</w:t></w:r></w:p>';

const withSettings = (body: string, settings: string) =>
  makeDocx({
    body,
    relationships:
      '<Relationship Id="s" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/settings" Target="settings.xml"/>',
    more: [
      {
        name: 'word/settings.xml',
        content: `<w:settings xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main">${settings}</w:settings>`,
      },
    ],
  });

it('shows the preview of an embedded object, as Word does', async () => {
  const red = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#f00' } })
    .png()
    .toBuffer();
  // A header of 28 bytes, and the equation "x" in MathType's format, version 3.
  const header = Buffer.alloc(28);
  header.set([28, 0, 0, 0, 2, 0]);
  const equation = Buffer.from('03010103000a0102837800000000', 'hex');
  header.writeUInt32LE(equation.length, 8);
  const classId = Buffer.from('02ce020000000000c000000000000046', 'hex');
  const object = makeCompoundFile('Equation Native', Buffer.concat([header, equation]), { classId });
  const source = makeDocx({
    body:
      '<w:p><w:r><w:object w:dxaOrig="2000" w:dyaOrig="2000"><v:shape id="s" style="width:100pt;height:100pt">' +
      '<v:imagedata r:id="i"/></v:shape><o:OLEObject Type="Embed" ProgID="Equation.3" ShapeID="s" DrawAspect="Content" ObjectID="_1" r:id="o"/>' +
      '</w:object></w:r></w:p>',
    relationships:
      `<Relationship Id="i" Type="${OFFICE_TYPE}/image" Target="media/i.png"/>` +
      `<Relationship Id="o" Type="${OFFICE_TYPE}/oleObject" Target="embeddings/o.bin"/>`,
    more: [
      { name: 'word/media/i.png', content: red },
      { name: 'word/embeddings/o.bin', content: object },
    ],
  });

  const picture = await convertOne(source, { format: 'png', options: 'in_ext=.docx -r=72' });

  expect(await pixel(picture, 100, 150)).toEqual([255, 0, 0, 255]);
});

it('on a line grid has as many lines on a page as in Word', async () => {
  const section =
    '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1440" w:bottom="1440" w:left="1440" w:right="1440"/>' +
    '<w:docGrid w:type="lines" w:linePitch="312"/></w:sectPr>';
  const source = makeDocx({ body: `${heading.repeat(10)}${line.repeat(60)}${section}` });

  const [first] = await readPdf(await convertOne(source, { format: 'pdf', options: 'in_ext=.docx' }));

  // 697.9 points: 1 line of 15.6, 10 headings of 31.2, and 23 lines.
  expect(first!.text.match(/H/g)).toHaveLength(10);
  expect(first!.text.match(/L/g)).toHaveLength(23);
});

it('compresses punctuation to fit another character into a line', async () => {
  // 35 characters of 12 points exceed a line by 4.7 points.
  const body =
    `<w:p><w:pPr><w:jc w:val="both"/></w:pPr><w:r><w:rPr><w:sz w:val="24"/></w:rPr><w:t>${'一二三四五六七，'.repeat(9)}</w:t></w:r></w:p>` +
    '<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:left="1800" w:right="1800"/></w:sectPr>';
  const linesOf = async (control: string) => {
    const source = withSettings(body, `<w:characterSpacingControl w:val="${control}"/>`);
    const [page] = await readPdf(await convertOne(source, { format: 'pdf', options: 'in_ext=.docx' }));
    return page!.text.match(/[一-鿿，]+/g)!.map(({ length }) => length);
  };

  expect(await linesOf('compressPunctuation')).toEqual([35, 35, 2]);
  expect(await linesOf('doNotCompress')).toEqual([34, 34, 4]);
});

it('keeps the heading of a table of contents in one piece', async () => {
  const text = (each: string) => `<w:r><w:t>${each}</w:t></w:r>`;
  const field = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
  const start = `${field('begin')}<w:r><w:instrText> TOC \\h </w:instrText></w:r>${field('separate')}`;
  const contents =
    `<w:p><w:pPr><w:pageBreakBefore/></w:pPr>${text('CONTENTS')}${start}</w:p><w:p>${text('Entry')}</w:p>` +
    `<w:p>${field('end')}</w:p>`;
  const body = `<w:sdt><w:sdtPr><w:docPartObj><w:docPartGallery w:val="Table of Contents"/></w:docPartObj></w:sdtPr><w:sdtContent>${contents}</w:sdtContent></w:sdt>`;

  const pages = await readPdf(
    await convertOne(makeDocx({ body }), { format: 'pdf', options: 'in_ext=.docx' }),
  );

  expect(pages[1]!.text).toMatch(/^CONTENTS\s+Entry/);
});

it('has tables as wide as in Word, in which each word fits', async () => {
  // The number needs 57 points, beside 10.8 points of margins.
  const [column, times] = [1356, '<w:rFonts w:ascii="Times New Roman" w:hAnsi="Times New Roman"/>'];
  const cell = `<w:tc><w:tcPr><w:tcW w:w="${column}" w:type="dxa"/></w:tcPr><w:p><w:r><w:rPr>${times}<w:sz w:val="24"/></w:rPr><w:t>1.50390625</w:t></w:r></w:p></w:tc>`;
  const table = `<w:tbl><w:tblPr><w:tblW w:w="${2 * column - 30}" w:type="dxa"/></w:tblPr><w:tblGrid>${`<w:gridCol w:w="${column}"/>`.repeat(2)}</w:tblGrid><w:tr>${cell}${cell}</w:tr></w:tbl>`;

  const [page] = await readPdf(
    await convertOne(makeDocx({ body: table }), { format: 'pdf', options: 'in_ext=.docx' }),
  );

  expect(page!.text.match(/1\.50390625/g)).toHaveLength(2);
});

it('keeps its line grid as an editable document', async () => {
  const grid = '<w:sectPr><w:docGrid w:type="lines" w:linePitch="312"/></w:sectPr>';

  const odt = await convertOne(makeDocx({ body: `${line}${grid}` }), {
    format: 'odt',
    options: 'in_ext=.docx',
  });

  const styles = (await readParts(odt, (name) => name === 'styles.xml')).get('styles.xml');
  expect(styles).toContain('style:layout-grid-mode="line"');
});

it.each([
  ['de-DE', 'Donaudampfschifffahrt '],
  ['fr-SN', 'internationalisation caractéristique '],
  ['sr-Cyrl-BA', 'интернационализација карактеристика '],
])('divides words at the ends of lines if its settings say so: %s', async (language, word) => {
  const body = `<w:p><w:r><w:rPr><w:lang w:val="${language}"/></w:rPr><w:t>${word.repeat(200)}</w:t></w:r></w:p>`;
  const dividedIn = async (source: Buffer) => {
    const [page] = await readPdf(await convertOne(source, { format: 'pdf', options: 'in_ext=.docx' }));
    // PDFium's sign for the end of a part of a word.
    return page!.text.split('\ufffe').length - 1;
  };

  expect(await dividedIn(withSettings(body, '<w:autoHyphenation/>'))).toBeGreaterThan(10);
  expect(await dividedIn(withSettings(body, ''))).toBe(0);
});

it('has lines that are higher for bullets in Symbol, but not for those in Courier New', async () => {
  const words = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const item =
    '<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr></w:pPr><w:r><w:t>L</w:t></w:r></w:p>';
  const list = (font: string, bullet: string) =>
    makeDocx({
      body: item.repeat(100),
      relationships:
        '<Relationship Id="n" Type="http://schemas.openxmlformats.org/officeDocument/2006/relationships/numbering" Target="numbering.xml"/>',
      more: [
        {
          name: 'word/numbering.xml',
          content: `<w:numbering ${words}><w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/>
            <w:lvlText w:val="${bullet}"/><w:rPr><w:rFonts w:ascii="${font}" w:hAnsi="${font}" w:hint="default"/></w:rPr></w:lvl></w:abstractNum>
            <w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num></w:numbering>`,
        },
      ],
    });
  const linesOf = async (source: Buffer) => {
    const [first] = await readPdf(await convertOne(source, { format: 'pdf', options: 'in_ext=.docx' }));
    return first!.text.match(/L/g)!.length;
  };

  const usual = await linesOf(list('Times New Roman', '•'));
  expect(await linesOf(list('Symbol', '\uf0b7'))).toBeLessThan(usual);
  expect(await linesOf(list('Courier New', 'o'))).toBe(usual);
});

/** Returns the text of each page of a document with other parts, whose text is 20 points high, except for the first line. */
async function pagesOf(
  body: string,
  { height = 0, parts = {} as Record<string, string> } = {},
): Promise<string[]> {
  const section = `<w:sectPr><w:pgSz w:w="8000" w:h="${(20 + height) * 20}"/><w:pgMar w:top="0" w:bottom="0" w:left="0" w:right="0"/></w:sectPr>`;
  const source = makeDocx({
    body: height > 0 ? body + section : body,
    relationships: Object.keys(parts)
      .map((name) => `<Relationship Id="${name}" Type="${OFFICE_TYPE}/${name}" Target="${name}.xml"/>`)
      .join(''),
    more: Object.entries(parts).map(([name, content]) => ({
      name: `word/${name}.xml`,
      content: `<w:${name} ${WORDS}>${content}</w:${name}>`,
    })),
  });
  const pages = await readPdf(await convertOne(source, { format: 'pdf', options: 'in_ext=.docx' }));
  return pages.map(({ text }) => text.replaceAll(/\s+/g, ' ').trim());
}

const text = (each: string) => `<w:r><w:t xml:space="preserve">${each}</w:t></w:r>`;
const HIGH = '<w:spacing w:line="400" w:lineRule="exact" w:before="0" w:after="0"/>';
const paragraph = (each: string, properties = HIGH) => `<w:p><w:pPr>${properties}</w:pPr>${text(each)}</w:p>`;
const table = (widths: readonly number[], cells: readonly string[]) =>
  `<w:tbl><w:tblGrid>${widths.map((width) => `<w:gridCol w:w="${width}"/>`).join('')}</w:tblGrid><w:tr>` +
  cells
    .map((cell, index) => `<w:tc><w:tcPr><w:tcW w:w="${widths[index]}" w:type="dxa"/></w:tcPr>${cell}</w:tc>`)
    .join('') +
  '</w:tr></w:tbl>';

describe('a field', () => {
  const field = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
  const start = (instruction: string) =>
    `${field('begin')}<w:r><w:instrText xml:space="preserve"> ${instruction} </w:instrText></w:r>${field('separate')}`;

  it.each([
    ['a reference to a bookmark that does not exist', 'REF gone \\h', 'Chapter 8'],
    ['the page of a bookmark, which is this one', 'PAGEREF there \\p \\h', 'on page 9'],
  ])('is printed as the document shows it: %s', async (_, instruction, result) => {
    const bookmark = '<w:bookmarkStart w:id="1" w:name="there"/><w:bookmarkEnd w:id="1"/>';

    const [page] = await pagesOf(
      `<w:p>${bookmark}${text('See ')}${start(instruction)}${text(result)}${field('end')}${text('.')}</w:p>`,
    );

    expect(page).toBe(`Ein Absatz See ${result}.`);
  });

  it('is computed if it depends on the page', async () => {
    const page = `<w:p><w:pPr><w:pageBreakBefore/></w:pPr>${start('PAGE')}${text('9')}${field('end')}</w:p>`;

    expect(await pagesOf(page.repeat(2))).toEqual(['Ein Absatz', '2', '3']);
  });

  it('remains a link', async () => {
    const target = `<w:p><w:bookmarkStart w:id="1" w:name="there"/>${text('There')}<w:bookmarkEnd w:id="1"/></w:p>`;
    const reference = `<w:p>${start('REF there \\h')}${text('over there')}${field('end')}</w:p>`;
    const pdf = await convertOne(makeDocx({ body: target + reference }), {
      format: 'pdf',
      options: 'in_ext=.docx',
    });

    expect(pdf.toString('latin1')).toMatch(/\/Subtype\s*\/Link/);
  });
});

describe('a row of a table', () => {
  it.each([
    ['two lines is not split', 'five six seven eight', 4],
    ['four lines is split', 'five six seven eight nine ten eleven twelve', 3],
  ])('with a paragraph of %s at the end of a page', async (title, words, count) => {
    const body = paragraph('above').repeat(count) + table([1400], [paragraph(words)]) + paragraph('below');

    const [first, second] = await pagesOf(body, { height: 100 });

    expect([first!.includes('five'), second!.includes('below')]).toEqual([title.endsWith(' is split'), true]);
  });

  it('is one line high if its number has an indent outside the cell', async () => {
    const numbering =
      '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:start w:val="1"/><w:numFmt w:val="decimal"/><w:lvlText w:val="%1"/>' +
      '<w:pPr><w:ind w:left="720" w:hanging="720"/></w:pPr></w:lvl></w:abstractNum><w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>';
    const settings =
      '<w:compat><w:compatSetting w:name="compatibilityMode" w:uri="http://schemas.microsoft.com/office/word" w:val="15"/></w:compat>';
    const number = `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr>${HIGH}</w:pPr></w:p>`;
    const rows = table([625, 3000], [number, paragraph('code')]).repeat(4);

    const pages = await pagesOf(rows + paragraph('end', '<w:spacing w:line="20" w:lineRule="exact"/>'), {
      height: 90,
      parts: { numbering, settings },
    });

    expect(pages).toHaveLength(1);
  });
});

describe('the items of a list', () => {
  const styles =
    '<w:style w:type="paragraph" w:styleId="web"><w:name w:val="Normal (Web)"/>' +
    '<w:pPr><w:spacing w:before="100" w:beforeAutospacing="1" w:after="100" w:afterAutospacing="1"/></w:pPr></w:style>';
  const numbering =
    '<w:abstractNum w:abstractNumId="0"><w:lvl w:ilvl="0"><w:numFmt w:val="bullet"/><w:lvlText w:val="-"/></w:lvl></w:abstractNum>' +
    '<w:num w:numId="1"><w:abstractNumId w:val="0"/></w:num>';
  const item = (spacing: string) =>
    paragraph(
      'item',
      `<w:pStyle w:val="web"/><w:numPr><w:ilvl w:val="0"/><w:numId w:val="1"/></w:numPr><w:spacing w:line="400" w:lineRule="exact" ${spacing}/>`,
    );

  it.each([
    ['no space between them if Word chooses it', '', 5],
    [
      'the space that they set',
      'w:before="400" w:beforeAutospacing="0" w:after="0" w:afterAutospacing="0"',
      3,
    ],
  ])('have %s', async (_, spacing, count) => {
    const [first] = await pagesOf(item(spacing).repeat(10), { height: 128, parts: { styles, numbering } });

    expect(first!.match(/item/g)).toHaveLength(count);
  });
});

const FIRST_DATE = 0x21;

/** A document as Word saves it, with the number of its pages. */
const savedByWord = (body: string, pages: number, date = FIRST_DATE, image = Buffer.alloc(0)) =>
  makeDocx({
    relationships: `<Relationship Id="i" Type="${OFFICE_TYPE}/image" Target="media/i.png"/>`,
    body: `${body}<w:sectPr><w:pgSz w:w="11906" w:h="16838"/><w:pgMar w:top="1440" w:bottom="1440" w:left="1440" w:right="1440"/></w:sectPr>`,
    more: [
      {
        name: 'docProps/app.xml',
        content: `<Properties><Pages>${pages}</Pages><Application>Microsoft Office Word</Application></Properties>`,
      },
      { name: 'word/media/i.png', content: image },
    ],
    date,
  });

const MARK = '<w:lastRenderedPageBreak/>';
/** A paragraph of 20 points. */
const row = (text: string, mark = '') =>
  `<w:p><w:pPr><w:spacing w:before="0" w:after="200" w:line="200" w:lineRule="exact"/></w:pPr><w:r>${mark}<w:t>${text}</w:t></w:r></w:p>`;
const rows = (count: number, first = 1) =>
  Array.from({ length: count }, (_, index) => row(`R${first + index}.`)).join('');

async function rowsOnPages(source: Buffer): Promise<string[][]> {
  const pages = await readPdf(await convertOne(source, { format: 'pdf', options: 'in_ext=.docx' }));
  return pages.map(({ text }) => text.match(/R\d+(?=\.)/g) ?? []);
}

it('begins pages where Word did', async () => {
  const [first, second] = await rowsOnPages(savedByWord(rows(24) + row('R25.', MARK) + rows(4, 26), 2));

  expect(first!.at(-1)).toBe('R24');
  expect(second).toEqual(['R25', 'R26', 'R27', 'R28', 'R29']);
});

it.each([
  ['where a line begins', 210],
  ['within a line', 213],
])('begins a page within a paragraph without changing its lines: %s', async (_, marked) => {
  const words = (from: number, count: number) =>
    Array.from({ length: count }, (_, index) => `R${from + index}.`).join(' ');
  const source = (mark: string, pages: number) =>
    savedByWord(
      `${rows(20)}<w:p><w:pPr><w:ind w:firstLine="700"/><w:jc w:val="both"/></w:pPr><w:r><w:t xml:space="preserve">${words(100, marked - 100)} </w:t>${mark}<w:t>${words(marked, 280 - marked)}</w:t></w:r></w:p>`,
      pages,
    );

  const [first, second] = await rowsOnPages(source(MARK, 2));

  expect(first!.at(-1)).toBe('R209');
  expect(second![0]).toBe('R210');
  expect([...first!, ...second!]).toEqual((await rowsOnPages(source('', 1))).flat());
});

it('does not move a table that has a mark within its first cell', async () => {
  const table = `<w:tbl><w:tblGrid><w:gridCol w:w="9000"/></w:tblGrid><w:tr><w:tc>${rows(19, 6)}${row('R25.', MARK)}${rows(20, 26)}</w:tc></w:tr></w:tbl>`;

  const [first] = await rowsOnPages(savedByWord(rows(5) + table, 2));

  expect(first!.length).toBeGreaterThan(24);
});

it('keeps a picture on its page that is before a mark in the same paragraph', async () => {
  const picture = (id: number) =>
    `<w:r><w:drawing><wp:inline><wp:extent cx="3000000" cy="1800000"/><wp:docPr id="${id}" name="p"/><a:graphic><a:graphicData uri="http://schemas.openxmlformats.org/drawingml/2006/picture"><pic:pic><pic:nvPicPr><pic:cNvPr id="0" name="p"/><pic:cNvPicPr/></pic:nvPicPr><pic:blipFill><a:blip r:embed="i"/><a:stretch><a:fillRect/></a:stretch></pic:blipFill><pic:spPr><a:xfrm><a:off x="0" y="0"/><a:ext cx="3000000" cy="1800000"/></a:xfrm><a:prstGeom prst="rect"/></pic:spPr></pic:pic></a:graphicData></a:graphic></wp:inline></w:drawing></w:r>`;
  const red = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#f00' } })
    .png()
    .toBuffer();
  const source = savedByWord(
    `${rows(18)}<w:p>${picture(1)}<w:r><w:br/>${MARK}<w:t>R19.</w:t></w:r></w:p>`,
    2,
    FIRST_DATE,
    red,
  );

  const [first, second] = await readPdf(await convertOne(source, { format: 'pdf', options: 'in_ext=.docx' }));

  const isRed = ({ pixels }: { pixels: Uint8Array }) =>
    pixels.some((_, at) => at % 4 === 0 && pixels[at]! > 250 && pixels[at + 1]! < 5);
  expect([isRed(first!), isRed(second!)]).toEqual([true, false]);
  expect(second!.text).toContain('R19');
});

it('makes lines lower if a page is slightly too short for what Word had on it', async () => {
  // 697.9 points: the first paragraph, and 34 rows.
  const body = rows(35) + row('R36.', MARK) + rows(34, 37);
  expect((await rowsOnPages(savedByWord(body, 9)))[0]).toHaveLength(34);

  const [first, second, third] = await rowsOnPages(savedByWord(body, 2));

  expect([first!.at(-1), second!.length, third]).toEqual(['R35', 35, undefined]);
});

it('only makes lines lower if Word recorded no number of pages', async () => {
  const [first] = await rowsOnPages(savedByWord(rows(35) + row('R36.', MARK), 1));
  expect(first!.at(-1)).toBe('R35');

  const [all] = await rowsOnPages(savedByWord(rows(24) + row('R25.', MARK) + rows(4, 26), 1));
  expect(all).toHaveLength(29);
});

it('pulls back the end of a document that is longer than in Word', async () => {
  expect(await rowsOnPages(savedByWord(rows(35), 1))).toHaveLength(1);
});

it.each([
  ['the number of pages is far off', 9, FIRST_DATE],
  ['another program saved it', 2, FIRST_DATE + 1],
])('leaves the pages to LibreOffice if %s', async (_, pages, date) => {
  const [first] = await rowsOnPages(savedByWord(rows(24) + row('R25.', MARK) + rows(4, 26), pages, date));

  expect(first).toHaveLength(29);
});

it('keeps its own pages if there were more with the marks than in Word', async () => {
  const body = `${rows(24)}${row('R25.', MARK)}${rows(27, 26)}${row('R53.', MARK)}${rows(14, 54)}`;

  const [first, second] = await rowsOnPages(savedByWord(body, 2));

  expect(first!.length + second!.length).toBe(67);
  expect(first!.length).toBeGreaterThan(24);
});

it('computes formulas and conditions in footers for each page', async () => {
  const run = (content: string) => `<w:r>${content}</w:r>`;
  const mark = (type: string) => run(`<w:fldChar w:fldCharType="${type}"/>`);
  const code = (text: string) => run(`<w:instrText>${text}</w:instrText>`);
  const field = (content: string) =>
    mark('begin') + content + mark('separate') + run('<w:t>saved</w:t>') + mark('end');
  const [page, pages] = [field(code('PAGE')), field(code('NUMPAGES'))];
  const next = field(code('=') + page + code('+1'));
  const isLast = field(
    code('IF ') + page + code('=') + pages + code(' "the end" "next: ') + next + code('"'),
  );
  const numbered = field(code('=') + page + code(' \\* roman'));
  const source = makeDocx({
    // The second page begins within a paragraph, and the third one has its own number.
    body:
      `<w:p>${run(`<w:t>${'word '.repeat(900)}</w:t>`)}</w:p>` +
      '<w:p><w:pPr><w:sectPr><w:footerReference w:type="default" r:id="f"/></w:sectPr></w:pPr></w:p>' +
      '<w:p/><w:sectPr><w:footerReference w:type="default" r:id="f"/><w:pgNumType w:start="9"/></w:sectPr>',
    relationships: `<Relationship Id="f" Type="${OFFICE_TYPE}/footer" Target="footer1.xml"/>`,
    more: [
      {
        name: 'word/footer1.xml',
        content: `<w:ftr ${WORDS}><w:p>${isLast}</w:p><w:p>${numbered}</w:p></w:ftr>`,
      },
    ],
  });

  const read = await readPdf(await convertOne(source, { format: 'pdf', options: 'in_ext=.docx' }));

  expect(read.map(({ text }) => /next: \d+\s*[ivx]+/.exec(text)?.[0].replace(/\s+/g, ' '))).toEqual([
    'next: 2 i',
    'next: 3 ii',
    'next: 10 ix',
  ]);
});

it('numbers in words, in ordinals and in Chinese numerals', async () => {
  const levels = ['ordinalText', 'ordinal', 'chineseCountingThousand'].map(
    (format, index) =>
      `<w:abstractNum w:abstractNumId="${index}"><w:lvl w:ilvl="0"><w:start w:val="21"/><w:numFmt w:val="${format}"/>` +
      `<w:lvlText w:val="%1 item"/></w:lvl></w:abstractNum>`,
  );
  const lists = levels.map(
    (_, index) => `<w:num w:numId="${index + 1}"><w:abstractNumId w:val="${index}"/></w:num>`,
  );
  const body = levels.map(
    (_, index) =>
      `<w:p><w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="${index + 1}"/></w:numPr></w:pPr></w:p>`,
  );
  const content = `<w:numbering ${WORDS}>${levels.join('')}${lists.join('')}</w:numbering>`;
  const source = makeDocx({
    body: body.join(''),
    relationships: `<Relationship Id="n" Type="${OFFICE_TYPE}/numbering" Target="numbering.xml"/>`,
    more: [{ name: 'word/numbering.xml', content }],
  });

  const [page] = await readPdf(await convertOne(source, { format: 'pdf', options: 'in_ext=.docx' }));

  for (const label of ['Twenty-first item', '21st item', '二十一 item']) expect(page!.text).toContain(label);
});

it.each(['pdf', 'txt'] as const)(
  'converts documents in other formats inside a Word document to %s',
  async (format) => {
    const contents = [
      '<html><body><h1>Web page</h1></body></html>',
      '{\\rtf1 Rich text}',
      Buffer.from([0, 1, 2]),
    ];
    const source = makeDocx({
      body: contents.map((_, index) => `<w:altChunk r:id="c${index}"/>`).join(''),
      relationships: contents
        .map(
          (_, index) => `<Relationship Id="c${index}" Type="${OFFICE_TYPE}/aFChunk" Target="c${index}.bin"/>`,
        )
        .join(''),
      more: contents.map((content, index) => ({ name: `word/c${index}.bin`, content })),
    });

    const { files, warnings } = await convert(source, { format, options: 'in_ext=.docx' });

    const [result] = files;
    const text = format === 'pdf' ? (await readPdf(result!))[0]!.text : result!.toString();
    expect(text).toMatch(/Ein Absatz\s+Web page\s+Rich text/);
    expect(warnings).toEqual([
      expect.stringContaining('A part of the document in another format was left out'),
    ]);
  },
);
