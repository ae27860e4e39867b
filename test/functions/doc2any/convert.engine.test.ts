import { readdirSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import sharp from 'sharp';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { SAYS } from '../../fixtures/office/documents.ts';
import { pixel } from '../../helpers/pixels.ts';
import { useEngine } from '../conversion.ts';
import { readPdf } from '../engines/office/read-pdf.ts';

const { convert, convertOne, refusal } = useEngine(doc2any, createEngine);

const fixture = (name: string) => readFile(join(import.meta.dirname, '../../fixtures/office', name));
/** Without the emoji, which PDFium extracts as two surrogates or not at all. */
const WORDS = SAYS.slice(0, SAYS.indexOf(' und'));

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
  it('writes comments as PDF notes with --comments', async () => {
    const pdf = await convertOne(await fixture('comment.docx'), { format: 'pdf', options: '--comments' });

    expect((await readPdf(pdf))[0]!.text).toContain('Ein Absatz mit Kommentar');
    expect(pdf.toString('latin1')).toMatch(/\/Subtype ?\/Text/);
  });

  it.each(['formula.docx', 'formula.odt'])('draws the equation of %s', async (name) => {
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
    ['-l=1', ['Erste']],
    ['-f=2 -l=99', ['Zweite', 'Dritte']],
    ['--pages=1,3', ['Erste', 'Dritte']],
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
    ['2.0', '%PDF-2.0'],
  ])('is of version %s', async (version, head) => {
    const pdf = await convertOne(await fixture('plain.txt'), {
      format: 'pdf',
      options: `in_ext=txt --pdf-version=${version}`,
    });

    expect(pdf.toString('latin1', 0, 8)).toBe(head);
  });

  it.each([
    ['PDF/A-2b', 'text.docx', /pdfaid:part>2<[\s\S]*pdfaid:conformance>B</],
    ['PDF/UA', 'comment.docx', /pdfuaid:part>1</],
  ])('conforms to %s', async (version, file, claim) => {
    const options = `--pdf-version=${version} --title=T`;
    const pdf = await convertOne(await fixture(file), { format: 'pdf', options });

    expect(pdf.toString('latin1')).toMatch(claim);
  });

  it('does not claim to be PDF/UA with a picture that has no alternative text', async () => {
    const options = '--pdf-version=PDF/UA --title=T';
    const { files, warnings } = await convert(await fixture('text.docx'), { format: 'pdf', options });

    expect(files[0]!.includes('pdfuaid')).toBe(false);
    expect(warnings).toEqual(['The result is not PDF/UA-1: A picture on page 3 has no alternative text.']);
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

  it.each(['locked.docx', 'locked.odt'])('%s rejects a wrong password', async (name) => {
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

it('opens XML in other encodings than UTF-8', async () => {
  const paragraph = '<office:body><office:text><text:p>\xa3\xf3d\xbc</text:p></office:text></office:body>';
  const source = Buffer.from(
    `<?xml version="1.0" encoding="iso-8859-2"?><office:document ${NAMESPACES} office:version="1.3"
      office:mimetype="application/vnd.oasis.opendocument.text">${paragraph}</office:document>`,
    'latin1',
  );

  const [page] = await readPdf(await convertOne(source, { format: 'pdf', name: 'a.fodt' }));

  expect(page!.text).toContain('Łódź');
});
