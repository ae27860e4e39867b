import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { readParts } from '../../../functions/engines/office/detect/archive.ts';
import type { EngineDependencies } from '../../../functions/shared/tool.ts';
import { SAYS } from '../../fixtures/office/documents.ts';
import { pixel } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';
import { makeDocx } from '../engines/office/detect/archives.ts';
import { makeCompoundFile } from '../engines/office/detect/compound-files.ts';
import { readPdf } from '../engines/office/read-pdf.ts';

const { convert, convertOne, refusal } = useEngine(doc2any, (dependencies) =>
  createEngine(dependencies as EngineDependencies),
);

const fixture = (name: string) => readFile(join(import.meta.dirname, '../../fixtures/office', name));
/** Without the emoji, which PDFium extracts as two surrogates or not at all. */
const WORDS = SAYS.slice(0, SAYS.indexOf(' und'));

/** The types of relationships within an office document. */
const OFFICE_TYPE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';

/** Declarations of the namespaces of flat OpenDocument files. */
const NAMESPACES = Object.entries({
  office: 'office',
  style: 'style',
  table: 'table',
  text: 'text',
  draw: 'drawing',
  presentation: 'presentation',
  svg: 'svg-compatible',
})
  .map(([prefix, name]) => `xmlns:${prefix}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`)
  .join(' ');

/** A flat OpenDocument presentation whose only slide is hidden. */
function hiddenSlide(): Buffer {
  return Buffer.from(`<?xml version="1.0"?>
    <office:document ${NAMESPACES} office:version="1.3"
      office:mimetype="application/vnd.oasis.opendocument.presentation">
      <office:automatic-styles>
        <style:page-layout style:name="layout"/>
        <style:style style:name="hidden" style:family="drawing-page">
          <style:drawing-page-properties presentation:visibility="hidden"/></style:style>
      </office:automatic-styles>
      <office:master-styles><style:master-page style:name="master" style:page-layout-name="layout"/></office:master-styles>
      <office:body><office:presentation>
        <draw:page draw:master-page-name="master" draw:style-name="hidden"/>
      </office:presentation></office:body>
    </office:document>`);
}

/** A flat OpenDocument spreadsheet with the content of each of its sheets, of which one may be hidden. */
function flatSheets(sheets: readonly string[], hidden?: number): Buffer {
  const tables = sheets.map(
    (sheet, index) =>
      `<table:table table:name="S${index}"${index === hidden ? ' table:style-name="hidden"' : ''}>${sheet}</table:table>`,
  );
  return Buffer.from(`<?xml version="1.0"?>
    <office:document ${NAMESPACES} office:version="1.3"
      office:mimetype="application/vnd.oasis.opendocument.spreadsheet">
      <office:automatic-styles><style:style style:name="hidden" style:family="table">
        <style:table-properties table:display="false"/></style:style></office:automatic-styles>
      <office:body><office:spreadsheet>${tables.join('')}</office:spreadsheet></office:body>
    </office:document>`);
}

async function textOf(name: string, options = '') {
  const pages = await readPdf(await convertOne(await fixture(name), { format: 'pdf', options }));
  return pages.map(({ text }) => text);
}

describe('a Word document', () => {
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
    ['en-US', 'characteristically internationalization '],
    ['ru-RU', 'достопримечательность электрификация '],
    ['en-CA', 'characteristically internationalization '],
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
});

describe('a document of each kind', () => {
  it.each(['text.docx', 'text.doc', 'text.rtf', 'text.odt'])(
    '%s becomes three pages of its text',
    async (name) => {
      const { files, pageCount } = await convert(await fixture(name), { format: 'pdf' });

      const pages = await readPdf(files[0]!);
      expect(pageCount).toBe(3);
      expect(pages.map(({ text }) => text.split(/\s*\n/)[0])).toEqual([
        'Erste Seite',
        'Zweite Seite',
        'Dritte Seite',
      ]);
      expect(pages[0]!.text).toContain(WORDS);
      expect(pages[1]!.text).toContain('Zeile 30');
      expect(pages[0]).toMatchObject({ width: expect.closeTo(595, 0), height: expect.closeTo(842, 0) });
    },
  );

  it.each(['sheet.xlsx', 'sheet.xls', 'sheet.ods'])(
    '%s becomes its sheets with the results of formulas',
    async (name) => {
      const pages = await textOf(name);

      const text = pages.join('\n');
      expect(text).toContain('Umsatz');
      expect(text).toMatch(/\b105\b/);
      expect(pages.at(-1)).toContain('Zweites Blatt');
    },
  );

  it.each(['slides.pptx', 'slides.ppt', 'slides.odp'])(
    '%s becomes one page per visible slide',
    async (name) => {
      const pages = await textOf(name);

      expect(pages).toHaveLength(2);
      // The font changes within the line, and so do the gaps that PDFium reads as spaces.
      expect(pages[0]!.replace(/ /g, '')).toContain(WORDS.replace(/ /g, ''));
      expect(pages[1]).toContain('Zweite Folie');
    },
  );

  it.each([
    ['table.csv', 'in_ext=.csv'],
    ['plain.txt', 'in_ext=txt'],
  ])('%s becomes a page', async (name, options) => {
    const pages = await textOf(name, options);

    expect(pages).toHaveLength(1);
    expect(pages[0]).toContain(WORDS);
  });
});

it("lays out HTML with LibreOffice's template, in which headings have no serifs", async () => {
  const source = Buffer.from('<!doctype html><html><body><h1>Titel</h1></body></html>');

  const pdf = await convertOne(source, { format: 'pdf', options: 'in_ext=.html' });

  expect(pdf.toString('latin1')).toContain('+LiberationSans-Bold');
});

describe('the content of a text document', () => {
  it.each(['comment.docx', 'comment.doc', 'comment.rtf', 'comment.odt'])(
    'converts %s, which has a comment',
    async (name) => {
      const [page] = await textOf(name);

      expect(page).toContain('Ein Absatz mit Kommentar');
    },
  );

  it('writes comments as PDF notes with --comments', async () => {
    const pdf = await convertOne(await fixture('comment.docx'), { format: 'pdf', options: '--comments' });

    expect(pdf.toString('latin1')).toMatch(/\/Subtype ?\/Text/);
  });

  it.each(['formula.docx', 'formula.rtf', 'formula.odt'])('draws the equation of %s', async (name) => {
    const [page] = await textOf(name);

    expect(page!.replace(/\s/g, '')).toMatch(/Vorher.*1764.*42.*nachher|Vorher.*nachher.*1764.*42/);
  });
});

describe('tables in plain text', () => {
  it.each([
    ['commas', 'Name,Menge\n"Äpfel, rote",12\n', 'utf8'],
    ['semicolons', 'Name;Menge\n"Äpfel, rote";12\n', 'utf8'],
    ['tabs, in Windows-1252', 'Name\tMenge\n"Äpfel, rote"\t12\n', 'latin1'],
  ] as const)('are split at %s', async (_, table, encoding) => {
    const source = Buffer.from(table, encoding);

    const [page] = await readPdf(await convertOne(source, { format: 'pdf', options: 'in_ext=csv' }));

    const cells = page!.text.split(/\s*\n/);
    expect(cells.join(' ')).toContain('Äpfel, rote 12');
    expect(page!.text).not.toContain('"');
  });

  it('keep formulas as text', async () => {
    const source = Buffer.from('a,b\n1,=1+41\n');

    const [page] = await readPdf(await convertOne(source, { format: 'pdf', options: 'in_ext=csv' }));

    expect(page!.text).toContain('=1+41');
  });
});

describe('in_ext', () => {
  it('is ignored if the content says otherwise', async () => {
    const pages = await textOf('text.docx', 'in_ext=.xls');

    expect(pages).toHaveLength(3);
  });
});

describe('pages', () => {
  it.each([
    ['-f=2', ['Zweite', 'Dritte']],
    ['-l=1', ['Erste']],
    ['-f=2 -l=2', ['Zweite']],
    ['-f=2 -l=99', ['Zweite', 'Dritte']],
    ['--pages=1,3', ['Erste', 'Dritte']],
    ['--pages=!1', ['Dritte']],
  ])('%s', async (options, expected) => {
    const { files, pageCount } = await convert(await fixture('text.docx'), { format: 'pdf', options });

    const pages = await readPdf(files[0]!);
    expect(pages.map(({ text }) => text.split(' ')[0])).toEqual(expected);
    expect(pageCount).toBe(3);
  });

  it('counts visible slides', async () => {
    const second = await textOf('hidden-second.pptx', '-f=2 -l=2');
    const hidden = await textOf('hidden-second.pptx', '-f=2 -l=2 --hidden-slides');

    expect([second[0]!.trim(), hidden[0]!.trim()]).toEqual(['Dritte Folie', 'Versteckte Folie']);
  });

  it.each(['--notes', '--fit=sheet'])(
    'cannot be combined with %s, which changes how LibreOffice counts pages',
    async (option) => {
      const { code } = await refusal(await fixture('slides.pptx'), {
        format: 'pdf',
        options: `${option} -f=1`,
      });

      expect(code).toBe('BAD_PARAMETER');
    },
  );

  it('rejects a first page past the end', async () => {
    const { code, message } = await refusal(await fixture('text.docx'), { format: 'pdf', options: '-f=4' });

    expect(code).toBe('PAGE_RANGE');
    expect(message).toBe("Parameter '-f' is 4, but the document has 3 pages.");
  });

  it('rejects a document with more pages than allowed', async () => {
    const limits = { pages: 2 };

    const { code } = await refusal(await fixture('text.docx'), { format: 'pdf', limits });

    expect(code).toBe('RESULT_TOO_LARGE');
  });
});

describe('layout', () => {
  it('prints text documents in landscape', async () => {
    const [page] = await readPdf(
      await convertOne(await fixture('text.docx'), { format: 'pdf', options: '--landscape' }),
    );

    expect(page).toMatchObject({ width: expect.closeTo(842, 0), height: expect.closeTo(595, 0) });
  });

  it('fits the columns of a spreadsheet on one page', async () => {
    const pages = await textOf('sheet.xlsx', '--fit=width');

    expect(pages).toHaveLength(2);
    expect(pages[0]).toMatch(/Monat 1\b[\s\S]*Monat 14\b/);
  });

  it('fits each sheet on one page', async () => {
    const pages = await textOf('sheet.xlsx', '--fit=sheet');

    expect(pages).toHaveLength(2);
    expect(pages[0]).toMatch(/Monat 1\b[\s\S]*Monat 14\b/);
  });

  it('makes no page of an empty or hidden sheet, unless all are empty', async () => {
    const cell =
      '<table:table-row><table:table-cell office:value-type="string"><text:p>full</text:p></table:table-cell></table:table-row>';
    const shape =
      '<table:shapes><draw:rect svg:x="1cm" svg:y="1cm" svg:width="3cm" svg:height="2cm"><text:p>drawn</text:p></draw:rect></table:shapes>';
    const pagesOf = async (sheets: readonly string[], hidden?: number) =>
      readPdf(await convertOne(flatSheets(sheets, hidden), { format: 'pdf', options: '--fit=sheet' }));

    expect((await pagesOf(['', cell, '', shape, ''])).map(({ text }) => text.trim())).toEqual([
      'full',
      'drawn',
    ]);
    expect((await pagesOf([cell, cell, cell], 1)).length).toBe(2);
    const locked = flatSheets(['', cell])
      .toString()
      .replace('<office:spreadsheet>', '<office:spreadsheet table:structure-protected="true">');
    const kept = await readPdf(
      await convertOne(Buffer.from(locked), { format: 'pdf', options: '--fit=sheet' }),
    );
    for (const { width, height } of kept) expect(Math.min(width, height)).toBeGreaterThan(3);
    const [page, ...others] = await pagesOf(['', '']);
    expect(others).toEqual([]);
    expect(page!.width).toBeGreaterThan(3);
    expect(page!.height).toBeGreaterThan(3);
  });

  it('is rejected if all its slides are hidden, unless they are included', async () => {
    const { code, message } = await refusal(hiddenSlide(), { format: 'pdf' });
    const pages = await readPdf(
      await convertOne(hiddenSlide(), { format: 'pdf', options: '--hidden-slides' }),
    );

    expect(code).toBe('CONVERSION_FAILED');
    expect(message).toBe("All slides are hidden. Set '--hidden-slides' to include them.");
    expect(pages).toHaveLength(1);
  });

  it('adds hidden slides and pages of notes', async () => {
    const hidden = await textOf('slides.pptx', '--hidden-slides');
    const notes = await textOf('slides.pptx', '--notes');

    expect(hidden).toHaveLength(3);
    expect(hidden[2]).toContain('Versteckte Folie');
    expect(notes.join()).toContain('Notizen zur ersten Folie');
  });
});

describe('the PDF', () => {
  it.each([
    ['1.5', '%PDF-1.5'],
    ['1.7', '%PDF-1.7'],
    ['2.0', '%PDF-2.0'],
  ])('is of version %s', async (version, head) => {
    const pdf = await convertOne(await fixture('plain.txt'), {
      format: 'pdf',
      options: `in_ext=txt --pdf-version=${version}`,
    });

    expect(pdf.toString('latin1', 0, 8)).toBe(head);
  });

  it.each([
    ['PDF/A-1b', /pdfaid:part>1<[\s\S]*pdfaid:conformance>B</],
    ['PDF/A-2b', /pdfaid:part>2<[\s\S]*pdfaid:conformance>B</],
    ['PDF/A-3b', /pdfaid:part>3<[\s\S]*pdfaid:conformance>B</],
    ['PDF/UA', /pdfuaid:part>1</],
  ])('conforms to %s', async (version, claim) => {
    const pdf = await convertOne(await fixture('text.docx'), {
      format: 'pdf',
      options: `--pdf-version=${version}`,
    });

    expect(pdf.toString('latin1')).toMatch(claim);
  });

  it('opens with its password', async () => {
    const pdf = await convertOne(await fixture('text.docx'), {
      format: 'pdf',
      options: '--encrypt=Schlüssel',
    });

    const pages = await readPdf(pdf, 'Schlüssel');
    expect(pages[0]!.text).toContain(WORDS);
    await expect(readPdf(pdf)).rejects.toThrow();
  });

  it('has a watermark', async () => {
    const pages = await textOf('text.docx', '--watermark=ENTWURF');

    expect(pages).toHaveLength(3);
    for (const text of pages) expect(text.replace(/\s/g, '')).toContain('ENTWURF');
  });

  it('has bookmarks for headings, except with --no-bookmarks', async () => {
    const source = await fixture('text.odt');

    const [marked, plain] = await Promise.all(
      ['--bookmarks', '--no-bookmarks'].map((options) => convertOne(source, { format: 'pdf', options })),
    );

    expect(marked!.toString('latin1')).toContain('/Outlines');
    expect(plain!.toString('latin1')).not.toContain('/Outlines');
  });
});

describe('images', () => {
  it('show the first page, with the emoji in color', async () => {
    const { files, pageCount } = await convert(await fixture('text.docx'), {
      format: 'png',
      options: '-r=72',
    });

    const { width, height } = await sharp(files[0]!).metadata();
    const { channels } = await sharp(files[0]!).stats();
    expect({ width, height, pageCount }).toEqual({ width: 596, height: 842, pageCount: 3 });
    // Text is gray. Only the emoji is not.
    expect(channels[2]!.min).toBeLessThan(channels[0]!.min + 60);
    expect((await sharp(files[0]!).toColorspace('hsv').stats()).channels[1]!.max).toBeGreaterThan(100);
  });

  it('show the requested page', async () => {
    const picture = await convertOne(await fixture('text.docx'), {
      format: 'png',
      options: '-f=3 -l=3 -r=72',
    });

    // A red square of 4 cm, 2 cm off the left edge, with a blue one in it.
    const text = await sharp(picture).stats();
    expect(text.channels[0]!.max).toBe(255);
    const colors = await Promise.all([70, 113].map((x) => pixel(picture, x, 140)));
    expect(colors).toEqual([
      [255, 0, 0, 255],
      [0, 0, 255, 255],
    ]);
  });

  it('are one file per page', async () => {
    const { files, pages } = await convert(await fixture('slides.pptx'), {
      format: 'jpg',
      delivery: 'paged',
      options: '-width=320',
    });

    const sizes = await Promise.all(files.map((file) => sharp(file).metadata()));
    expect(pages).toEqual([1, 2]);
    for (const size of sizes) expect(size).toMatchObject({ format: 'jpeg', width: 320 });
  });
});

describe('encrypted documents', () => {
  const locked = readdirSync(join(import.meta.dirname, '../../fixtures/office')).filter((name) =>
    name.startsWith('locked.'),
  );

  it.each(locked)('%s requires its password', async (name) => {
    const { code } = await refusal(await fixture(name), { format: 'pdf' });

    expect(code).toBe('PASSWORD_REQUIRED');
  });

  it.each(locked)('%s opens with its password', async (name) => {
    const pdf = await convertOne(await fixture(name), { format: 'pdf', options: '--password=geheim' });

    const pages = await readPdf(pdf);
    expect(pages.map(({ text }) => text).join()).toMatch(/Zweite/);
  });

  it.each(locked)('%s rejects a wrong password', async (name) => {
    const { code } = await refusal(await fixture(name), { format: 'pdf', options: '--password=falsch' });

    expect(code).toBe('WRONG_PASSWORD');
  });

  it('ignores a password that is not needed', async () => {
    const pages = await textOf('text.docx', '--password=geheim');

    expect(pages).toHaveLength(3);
  });
});

describe('a deadline', () => {
  it('ends a conversion without affecting the next one', async () => {
    const source = await fixture('text.docx');

    const { code } = await refusal(source, { format: 'pdf', time: 15 });
    const pages = await readPdf(await convertOne(source, { format: 'pdf' }));

    expect(code).toBe('TIMED_OUT');
    expect(pages).toHaveLength(3);
  });
});
