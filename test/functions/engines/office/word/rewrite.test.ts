import { expect, it } from 'vitest';
import { scanArchive } from '../../../../../functions/engines/office/detect/archive.ts';
import { layOutAsWord, withoutSlowParts } from '../../../../../functions/engines/office/word/rewrite.ts';
import { makeArchive, makeDocx } from '../detect/archives.ts';

const layOut = async (bytes: Buffer) => (await layOutAsWord(bytes)).bytes;

const GRID = '<w:sectPr><w:docGrid w:type="lines" w:linePitch="312"/></w:sectPr>';

async function partsOf(bytes: Buffer): Promise<Record<string, string>> {
  const parts: Record<string, string> = {};
  await scanArchive(bytes, (name, piece) => {
    parts[name] = `${parts[name] ?? ''}${piece}`;
  });
  return parts;
}

it('changes only the text of a document', async () => {
  const source = makeDocx({ body: GRID });

  const laidOut = await layOut(source);

  const [before, after] = [await partsOf(source), await partsOf(laidOut!)];
  expect(after['word/document.xml']).toContain('<w:spacing w:line="312" w:lineRule="atLeast"/>');
  expect({ ...after, 'word/document.xml': '' }).toEqual({ ...before, 'word/document.xml': '' });
  expect(await layOut(laidOut!)).toBeUndefined();
});

it('changes the labels of lists in a document without a grid', async () => {
  const content =
    '<w:numbering><w:lvl><w:rPr><w:rFonts w:ascii="Courier New"/></w:rPr></w:lvl></w:numbering>';
  const source = makeDocx({ body: '<w:p/>', more: [{ name: 'word/numbering.xml', content }] });

  const laidOut = await layOut(source);

  const [before, after] = [await partsOf(source), await partsOf(laidOut!)];
  expect(after).toEqual({ ...before, 'word/numbering.xml': content.replace('New', 'New Label') });
});

it.each([
  ['in the code page of an old archive', 'word/media/图片.png'],
  ['of a folder', 'word/media/'],
])('keeps a part with a name %s', async (_, name) => {
  const source = makeDocx({ body: GRID, more: [{ name, content: '' }] });

  const laidOut = await layOut(source);

  expect(laidOut!.includes(Buffer.from(name))).toBe(true);
  expect(laidOut!.includes('atLeast')).toBe(true);
});

it.each([
  ['another encoding', '<?xml version="1.0" encoding="ISO-8859-1"?>'],
  ['a wrong encoding', '\xe9'],
])('leaves a document in %s as it is', async (_, start) => {
  const content = Buffer.from(`${start}<w:document><w:body><w:p/>${GRID}</w:body></w:document>`, 'latin1');

  expect(await layOut(makeArchive([{ name: 'word/document.xml', content }]))).toBeUndefined();
});

it.each([
  ['<w:settings><w:adjustLineHeightInTable/></w:settings>', true],
  ['<w:settings><w:adjustLineHeightInTable w:val="0"/></w:settings>', false],
])('applies the grid in tables as the settings say: %s', async (settings, isOn) => {
  const table = '<w:tbl><w:tr><w:tc><w:p w:rsidR="1"/></w:tc></w:tr></w:tbl>';
  const more = [{ name: 'word/settings.xml', content: settings }];

  const laidOut = await layOut(makeDocx({ body: `${table}${GRID}`, more }));

  expect((await partsOf(laidOut!))['word/document.xml']!.includes('<w:p w:rsidR="1"/>')).toBe(!isOn);
});

it.each([
  ['<w:p/>', true],
  ['<w:p><w:pPr><w:sectPr/></w:pPr></w:p>', false],
])('counts the pages of the only section as those of the document: %s', async (body, isOnly) => {
  const field =
    '<w:r><w:fldChar w:fldCharType="begin"/></w:r><w:r><w:instrText> SECTIONPAGES </w:instrText></w:r>';
  const more = [{ name: 'word/footer1.xml', content: `<w:ftr><w:p>${field}</w:p></w:ftr>` }];

  const laidOut = await layOut(makeDocx({ body: `${body}${GRID}`, more }));

  expect((await partsOf(laidOut!))['word/footer1.xml']!.includes(' NUMPAGES ')).toBe(isOnly);
});

it('finds numbered parts', async () => {
  const document = `<w:document><w:body><w:p/>${GRID}</w:body></w:document>`;
  const styles =
    '<w:styles><w:docDefaults><w:rPrDefault><w:rPr><w:sz w:val="44"/></w:rPr></w:rPrDefault></w:docDefaults></w:styles>';
  const parts = [
    { name: 'word/document2.xml', content: document },
    { name: 'word/styles2.xml', content: styles },
  ];

  const laidOut = await layOut(makeArchive(parts));

  expect((await partsOf(laidOut!))['word/document2.xml']).toContain('w:line="624"');
});

it('replaces fields in the text and the notes, but not in headers', async () => {
  const field = '<w:p><w:fldSimple w:instr="REF x"><w:r><w:t>8</w:t></w:r></w:fldSimple></w:p>';
  const source = makeArchive(
    ['document', 'footnotes', 'endnotes2', 'header1', 'footer1'].map((name) => ({
      name: `word/${name}.xml`,
      content: `<w:body>${field}</w:body>`,
    })),
  );

  const parts = await partsOf((await layOut(source))!);

  const changed = Object.keys(parts).filter((name) => !parts[name]!.includes('w:fldSimple'));
  expect(changed).toEqual(['word/document.xml', 'word/footnotes.xml', 'word/endnotes2.xml']);
});

it('keeps fields that Word computes when it opens the document', async () => {
  const body = '<w:p><w:fldSimple w:instr="REF x"><w:r><w:t>8</w:t></w:r></w:fldSimple></w:p>';
  const settings = {
    name: 'word/settings.xml',
    content: '<w:settings><w:updateFields w:val="true"/></w:settings>',
  };

  expect(await layOut(makeDocx({ body, more: [settings] }))).toBeUndefined();
});

it.each([
  ['a document without a grid', makeDocx({ body: '<w:sectPr/>' })],
  ['another archive', makeArchive([{ name: 'a', content: 'b' }])],
])('leaves %s as it is', async (_, bytes) => {
  expect(await layOut(bytes)).toBeUndefined();
});

it('rejects a document that is not well-formed', async () => {
  await expect(layOut(makeDocx({ body: `</w:p>${GRID}` }))).rejects.toThrow();
});

it('makes the floating tables of all parts of a Word document inline', async () => {
  const table = '<w:tblPr><w:tblpPr w:tblpY="1"/><w:tblOverlap w:val="never"/><w:tblW w:w="9"/></w:tblPr>';
  const bytes = makeArchive([
    { name: 'word/document.xml', content: 'no table' },
    { name: 'word/footer2.xml', content: table },
  ]);

  const inline = await withoutSlowParts(bytes);

  expect(await partsOf(inline!)).toEqual({
    'word/document.xml': 'no table',
    'word/footer2.xml': '<w:tblPr><w:tblW w:w="9"/></w:tblPr>',
  });
  expect(await withoutSlowParts(inline!)).toBeUndefined();
});

it('removes 3D effects from a Word document', async () => {
  const effects = '<a:scene3d><a:camera/></a:scene3d><a:sp3d extrusionH="9"/>';
  const bytes = makeArchive([{ name: 'word/document.xml', content: `<a:ln/>${effects}<a:ln/>` }]);

  const simple = await withoutSlowParts(bytes);

  expect(await partsOf(simple!)).toEqual({ 'word/document.xml': '<a:ln/><a:ln/>' });
});

it('divides runs after their properties were edited', async () => {
  const field = (type: string) => `<w:r><w:fldChar w:fldCharType="${type}"/></w:r>`;
  const entry =
    `<w:p>${field('begin')}<w:r><w:instrText> TOC </w:instrText></w:r>${field('separate')}` +
    '<w:r><w:rPr><w:webHidden/></w:rPr><w:lastRenderedPageBreak/><w:t>13</w:t></w:r></w:p>' +
    `<w:p>${field('end')}</w:p>`;
  const more = [
    {
      name: 'docProps/app.xml',
      content: '<Properties><Pages>2</Pages><Application>Microsoft Office Word</Application></Properties>',
    },
  ];

  const { bytes, pages } = await layOutAsWord(makeDocx({ body: entry, more, date: 0x21 }));

  const text = (await partsOf(bytes!))['word/document.xml'];
  expect(text).toContain('w:name="docmill-page-1"');
  expect(text).not.toContain('webHidden');
  expect(pages).toBe(2);
});

it.each([
  ['<w:instrText> NUMPAGES </w:instrText>', '<w:instrText> NUMPAGES \\* Arabic </w:instrText>'],
  [
    '<w:fldSimple w:instr="NUMPAGES \\* MERGEFORMAT"/>',
    '<w:fldSimple w:instr="NUMPAGES \\* Arabic \\* MERGEFORMAT"/>',
  ],
  ['<w:instrText>NUMPAGES \\* roman</w:instrText>', undefined],
])('writes the number of pages in digits beside Roman page numbers: %s', async (field, expected) => {
  const source = makeDocx({
    body: `<w:p><w:r>${field}</w:r></w:p><w:sectPr><w:pgNumType w:fmt="lowerRoman"/></w:sectPr>`,
  });

  const laidOut = await layOut(source);

  expect(laidOut && (await partsOf(laidOut))['word/document.xml']).toEqual(
    expected && expect.stringContaining(expected),
  );
});
