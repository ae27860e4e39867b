import { deflateSync } from 'node:zlib';
import { getDocument, PermissionFlag } from 'pdfjs-dist/legacy/build/pdf.mjs';
import { describe, expect, it } from 'vitest';
import { createEngine } from '../../../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../../../functions/pdftools/tool.ts';
import { noisyPhoto } from '../../../../fixtures/image.ts';
import { formPdf, makePdf, pdfOf } from '../../../../fixtures/pdf.ts';
import { drawPage, permissionsOf, readPdf } from '../../../../helpers/pdf.ts';
import { isBlank, pixel } from '../../../../helpers/pixels.ts';
import { unzip } from '../../../../helpers/zip.ts';
import { useEngine } from '../../../conversion.ts';
import { serveFiles } from '../../../serve-files.ts';

const { convert, convertOne, refusal } = useEngine(pdftools, createEngine);
const SIZE = { width: 200, height: 100 };
const empty = (rotate = 0) => ({ ...SIZE, rotate });
const PAGES = makePdf([empty(), empty(90), empty()]);
const square = { x: 0, y: 0, width: 20, height: 20, color: [1, 0, 0] as const };
const url = await serveFiles({
  'stamp.pdf': makePdf([
    { width: 20, height: 20, boxes: [square] },
    { width: 20, height: 20, boxes: [{ ...square, color: [0, 0, 1] }] },
  ]),
  'layers.pdf': layeredPdf(),
  'more.pdf': makePdf([empty()]),
  'values.json': Buffer.from('{"name":"Ada 愛","agree":true,"color":"green","person":{"email":"a@b.c"}}'),
  'values.xfdf': Buffer.from(
    '<?xml version="1.0"?><xfdf><fields><field name="person"><field name="email"><value>x &amp; y</value></field></field></fields></xfdf>',
  ),
  'buttons.json': Buffer.from('{"agree":true,"size":"large","fruit":["pear","fig"]}'),
  'small.json': Buffer.from('{"size":"small"}'),
  'two.json': Buffer.from('{"color":["red","g"]}'),
  'unknown.json': Buffer.from('{"nam":"x"}'),
  'long.json': Buffer.from(`{"name":"${'x'.repeat(21)}"}`),
  'choice.json': Buffer.from('{"color":"blue"}'),
  'entity.xfdf': Buffer.from(
    '<!DOCTYPE x [<!ENTITY a "b">]><xfdf><field name="name"><value>&a;</value></field></xfdf>',
  ),
  'noise.json': Buffer.from('name=x'),
});
const draw = async (pdf: Buffer, page: number) => drawPage(pdf, page);
const [RED, BLUE, WHITE] = [
  [255, 0, 0, 255],
  [0, 0, 255, 255],
  [255, 255, 255, 255],
];

describe('a stamp', () => {
  it('is placed as the page is displayed, its last page on all further pages', async () => {
    const options = `-stamp=${url('stamp.pdf')} -stamp-position=NorthEast -stamp-scale=0.5`;

    const pdf = await convertOne(PAGES, { format: 'pdf', options });

    const corners = [
      [195, 5],
      [95, 5],
      [195, 5],
    ] as const;
    const drawn = await Promise.all([1, 2, 3].map((page) => draw(pdf, page)));
    const seen = await Promise.all(
      drawn.map((picture, index) => pixel(picture, corners[index]![0], corners[index]![1])),
    );
    expect(seen).toEqual([RED, BLUE, BLUE]);
    expect(await pixel(drawn[0]!, 185, 5)).toEqual(WHITE);
  });

  it('is drawn over or under the page, with an opacity, on some pages', async () => {
    const covered = makePdf([{ ...SIZE, boxes: [{ ...square, color: [0, 0, 1] }] }, empty()]);
    const place = (name: string) =>
      `-${name}=${url('stamp.pdf')} -${name}-position=SouthWest -${name}-pages=1`;

    const over = await convertOne(covered, {
      format: 'pdf',
      options: `${place('stamp')} -stamp-opacity=0.5`,
    });
    const under = await convertOne(covered, { format: 'pdf', options: place('underlay') });

    const [red, , blue] = await pixel(await draw(over, 1), 5, 95);
    expect([red! > 100, blue! > 100]).toEqual([true, true]);
    expect(await pixel(await draw(under, 1), 5, 95)).toEqual(BLUE);
    expect(await isBlank(await draw(over, 2))).toBe(true);
  });
});

describe('a hidden layer', () => {
  it.each([
    ['of a stamp', makePdf([empty()]), `-stamp=${url('layers.pdf')}`],
    ['with a field that becomes part of the page', layeredPdf(), '-flatten'],
  ])('%s can be shown', async (_, source, options) => {
    // Otherwise, the list of hidden layers would be compressed.
    const pdf = await convertOne(source, { format: 'pdf', options: `${options} -linearize` });
    const shown = Buffer.from(
      pdf.toString('latin1').replace(/\/OFF ?\[[^\]]+/, (list) => list.replace(/\d+ \d+ R/, '        ')),
      'latin1',
    );

    expect(await isBlank(await draw(pdf, 1))).toBe(true);
    expect(await isBlank(await draw(shown, 1))).toBe(false);
  });

  it('has no fields in pictures', async () => {
    expect(await isBlank(await convertOne(layeredPdf(), { format: 'png', options: '-r=72' }))).toBe(true);
  });
});

describe('text', () => {
  it('of all scripts is written with embedded fonts, and numbers go on over all documents', async () => {
    const options = [
      `-append=${url('more.pdf')}`,
      '-pages=3-4',
      '-number=Seite_%p/%n',
      '-number-start=10',
      '-watermark=Grüße_機密',
    ].join(' ');

    const pdf = await convertOne(PAGES, { format: 'pdf', options });

    const { pages } = await readPdf(pdf);
    expect(pages.map(({ text }) => text)).toEqual(
      ['10/11', '11/11'].map((number) => expect.stringContaining(`Seite_${number}`)),
    );
    expect(pages[0]!.text).toContain('Grüße_機密');
    expect(await isBlank(await draw(pdf, 1))).toBe(false);
  });

  it('of both directions is written, and boxes for what no font has are a warning', async () => {
    const { files, warnings } = await convert(makePdf([empty()]), {
      format: 'pdf',
      options: '-number=7-שלום-🦄',
    });

    expect((await readPdf(files[0]!)).pages[0]!.text).toContain('שלום');
    expect(warnings).toEqual(['No font has U+1F984. Boxes were drawn instead.']);
  });

  it('is also drawn on images of the pages', async () => {
    const picture = await convertOne(PAGES, { format: 'png', options: '-watermark=X -r=72' });

    expect(await isBlank(picture)).toBe(false);
  });
});

describe('-fill', () => {
  it('sets the values of fields and draws them', async () => {
    const pdf = await convertOne(formPdf(), { format: 'pdf', options: `-fill=${url('values.json')}` });
    const flat = await convertOne(formPdf(), {
      format: 'pdf',
      options: `-fill=${url('values.json')} -flatten`,
    });

    expect((await readPdf(flat)).pages[0]!.text).toBe('Ada 愛greena@b.c');
    const drawn = await draw(flat, 1);
    expect(await pixel(drawn, 230, 90)).toEqual([0, 0, 0, 255]);
    const text = await convertOne(pdf, { format: 'txt' });
    expect(text.toString()).toContain('Ada 愛');
  });

  it('draws buttons that have no appearance, and the chosen items of a list', async () => {
    const pdf = await convertOne(bareFormPdf(), {
      format: 'pdf',
      options: `-fill=${url('buttons.json')} -flatten`,
    });
    const error = await refusal(bareFormPdf(), { format: 'pdf', options: `-fill=${url('small.json')}` });

    expect((await readPdf(pdf)).pages[0]!.text).toBe('✔●apple pear fig');
    const drawn = await draw(pdf, 1);
    const isMarked = async (y: number) => (await pixel(drawn, 190, y))[0]! < 255;
    expect(await Promise.all([49, 63, 77].map(isMarked))).toEqual([false, true, true]);
    expect(error.message).toContain("one of 'middle', 'large' or false for the field 'size'");
  });

  it('leaves no field with -flatten, not even those without an appearance', async () => {
    const pdf = await convertOne(bareFormPdf(), { format: 'pdf', options: '-flatten' });

    expect((await readPdf(pdf)).pages[0]!.text).toContain('pear');
    const document = await getDocument({ data: new Uint8Array(pdf), verbosity: 0 }).promise;
    expect(await (await document.getPage(1)).getAnnotations()).toEqual([]);
    await document.loadingTask.destroy();
  });

  it('flattens annotations on each of the pages that share them', async () => {
    const page = '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Annots 5 0 R>>';
    const shared = pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]>>',
      page,
      page,
      // A link stays an annotation.
      '[6 0 R<</Type/Annot/Subtype/Link/Rect[50 0 90 40]/Dest[3 0 R/Fit]>>]',
      '<</Type/Annot/Subtype/Square/F 4/Rect[0 0 40 40]/AP<</N 7 0 R>>>>',
      '<</Type/XObject/Subtype/Form/BBox[0 0 40 40]/Length 25>>\nstream\n1 0 0 rg 0 0 40 40 re f   \nendstream',
    ]);

    const flat = await convertOne(shared, { format: 'pdf', options: '-flatten' });

    for (const number of [1, 2]) expect(await pixel(await draw(flat, number), 10, 90)).toEqual(RED);
  });

  it('reads XFDF with nested names', async () => {
    const pdf = await convertOne(formPdf(), {
      format: 'pdf',
      options: `-fill=${url('values.xfdf')} -flatten`,
    });

    expect((await readPdf(pdf)).pages[0]!.text).toBe('x & y');
  });

  it.each([
    ['unknown.json', /the field 'nam', which the PDF does not have\. The fields are 'name', 'agree'/],
    ['long.json', /at most 20 characters for the field 'name'/],
    ['choice.json', /one of 'red', 'g' for the field 'color'/],
    ['two.json', /one text only for the field 'color'/],
    ['entity.xfdf', /not well-formed XFDF/],
    ['noise.json', /neither JSON nor XFDF/],
  ])('of %s is an error', async (name, message) => {
    const error = await refusal(formPdf(), { format: 'pdf', options: `-fill=${url(name)}` });

    expect(error).toMatchObject({
      code: 'BAD_PARAMETER',
      parameter: '-fill',
      message: expect.stringMatching(message),
    });
  });
});

describe('a PDF', () => {
  it('is encrypted with permissions, gets metadata and a file, and is shown in gray', async () => {
    const options = `-encrypt=secret -allow-copy=no -metadata=Title:New -attach=${url('stamp.pdf')} -gray`;
    const colored = makePdf([{ ...SIZE, boxes: [square] }]);

    const locked = await convertOne(colored, { format: 'pdf', options });
    const open = await convertOne(locked, { format: 'pdf', options: '-upw=secret' });

    expect(await permissionsOf(locked, 'secret')).not.toContain(PermissionFlag.COPY);
    expect((await readPdf(open)).title).toBe('New');
    const [red, green, blue] = await pixel(await draw(open, 1), 5, 95);
    expect(new Set([red, green, blue]).size).toBe(1);
  });

  it('is shown in black and white', async () => {
    const boxes = [square, { ...square, x: 60, color: [0.9, 0.9, 0.2] as const }];

    const mono = await convertOne(makePdf([{ ...SIZE, boxes }]), { format: 'pdf', options: '-mono' });

    const drawn = await draw(mono, 1);
    const found = await Promise.all([5, 65].map((x) => pixel(drawn, x, 95)));
    expect(found.map((channels) => channels.slice(0, 3))).toEqual([
      [0, 0, 0],
      [255, 255, 255],
    ]);
  });

  it('has images of the resolution that is given, unless that would make them larger', async () => {
    const photo = (await noisyPhoto(600, 400).jpeg().toBuffer()).toString('latin1');
    const image = (width: number, height: number, data: string) =>
      `<</Subtype/Image/Width ${width}/Height ${height}/BitsPerComponent 8/ColorSpace/DeviceRGB/Filter/DCTDecode/Length ${data.length}>>\nstream\n${data}\nendstream`;
    // The form halves the sizes: 600x400 pixels on 100x100 points, and once more on 200x50.
    const [content, form] = ['q .5 0 0 .5 0 0 cm /F Do Q', '200 0 0 200 0 0 cm /P Do 2 0 0 .5 0 0 cm /P Do'];
    const source = pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Count 1/Kids[3 0 R]>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</XObject<</F 5 0 R>>>>>>',
      `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
      `<</Subtype/Form/BBox[0 0 400 400]/Resources<</XObject<</P 6 0 R>>>>/Length ${form.length}>>\nstream\n${form}\nendstream`,
      image(600, 400, photo),
    ]);
    const sizeAt = async (optimize: string) => {
      const pdf = await convertOne(source, { format: 'pdf', options: `-optimize=${optimize}` });
      expect(pdf.length).toBeLessThan(source.length + 1000);
      const { images } = JSON.parse(String(await convertOne(pdf, { format: 'json' })));
      return [images[0].width, images[0].height];
    };

    expect(await sizeAt('72')).toEqual([200, 134]);
    expect(await sizeAt('print')).toEqual([600, 400]);
  });

  it.each([
    [
      'an image with a masked color stays as it is',
      '/DeviceRGB',
      '/Mask[0 0 255 255 0 0]',
      ['FlateDecode', 300],
    ],
    ['an image with a profile becomes a JPEG', '[/CalRGB<</WhitePoint[1 1 1]>>]', '', ['DCTDecode', 100]],
    [
      'an image that an annotation enlarges keeps its pixels',
      '/DeviceRGB',
      '/Annots[<</Subtype/Stamp/Rect[0 0 600 600]/AP<</N 6 0 R>>>>]',
      ['DCTDecode', 300],
    ],
    [
      'an indexed image gets its colors',
      `[/Indexed/DeviceRGB 255<${'00ff7f'.repeat(256)}>]`,
      '',
      ['FlateDecode', 100],
    ],
  ])('reduces images: %s', async (_, space, entries, expected) => {
    const { data } = await noisyPhoto(300, 300).raw().toBuffer({ resolveWithObject: true });
    const samples = deflateSync(space.includes('Indexed') ? data.subarray(0, 90_000) : data).toString(
      'latin1',
    );
    const content = 'q 100 0 0 100 0 0 cm /I Do Q';
    const source = pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Count 1/Kids[3 0 R]>>',
      `<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</XObject<</I 5 0 R>>>>${entries.startsWith('/Annots') ? entries : ''}>>`,
      `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
      `<</Subtype/Image/Width 300/Height 300/BitsPerComponent 8/ColorSpace ${space}/Filter/FlateDecode${entries}/Length ${samples.length}>>\nstream\n${samples}\nendstream`,
      `<</Subtype/Form/BBox[0 0 100 100]/Resources<</XObject<</I 5 0 R>>>>/Length ${content.length}>>\nstream\n${content}\nendstream`,
    ]);

    const pdf = await convertOne(source, { format: 'pdf', options: '-optimize=72' });

    const { images } = JSON.parse(String(await convertOne(pdf, { format: 'json' })));
    expect([images[0].filters[0], images[0].width]).toEqual(expected);
    if (space.includes('Indexed'))
      expect((await pixel(await draw(pdf, 1), 50, 50)).slice(0, 3)).toEqual([0, 255, 127]);
  });

  it('reduces a mask that images share once', async () => {
    const image = (entries: string, samples: Buffer) => {
      const data = deflateSync(samples).toString('latin1');
      return `<</Subtype/Image/Width 200/Height 200/BitsPerComponent 8${entries}/Filter/FlateDecode/Length ${data.length}>>\nstream\n${data}\nendstream`;
    };
    const black = image('/ColorSpace/DeviceRGB/SMask 7 0 R', Buffer.alloc(120_000));
    // The left half is opaque.
    const half = Buffer.from(Array.from({ length: 40_000 }, (_, index) => (index % 200 < 100 ? 255 : 0)));
    const content = 'q 100 0 0 100 0 0 cm /A Do Q q 100 0 0 100 100 0 cm /B Do Q';
    const source = pdfOf([
      '<</Type/Catalog/Pages 2 0 R>>',
      '<</Type/Pages/Count 1/Kids[3 0 R]>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 4 0 R/Resources<</XObject<</A 5 0 R/B 6 0 R>>>>>>',
      `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
      black,
      black,
      image('/ColorSpace/DeviceGray', half),
    ]);

    const drawn = await draw(await convertOne(source, { format: 'pdf', options: '-optimize=36' }), 1);

    const grays = await Promise.all([20, 80, 120, 180].map((x) => pixel(drawn, x, 50)));
    expect(grays.map(([red]) => red)).toEqual([0, 255, 0, 255]);
  });

  it('gives its attached files, with names that are safe and differ', async () => {
    const file = (name: string, stream: number) => `<</Type/Filespec/F(${name})/EF<</F ${stream} 0 R>>>>`;
    const source = pdfOf([
      '<</Type/Catalog/Pages 2 0 R/Names<</EmbeddedFiles<</Names[(a)7 0 R(b)8 0 R]>>>>>>',
      '<</Type/Pages/Count 1/Kids[3 0 R]>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Annots[<</Subtype/FileAttachment/FS 9 0 R>>]>>',
      ...['one', 'two', 'six'].map((text) => `<</Length 3>>\nstream\n${text}\nendstream`),
      ...[file('/etc/no.txt', 4), file('NO.txt', 5), file('..\\\\x:y', 6)],
    ]);

    const archive = await convertOne(source, { format: 'zip', options: '-attachments' });

    expect((await unzip(archive)).map(({ name, content }) => [name, String(content)])).toEqual([
      ['no.txt', 'one'],
      ['NO (2).txt', 'two'],
      ['x_y', 'six'],
    ]);
    const { attachments } = JSON.parse(String(await convertOne(source, { format: 'json' })));
    expect(attachments).toMatchObject([{ name: '/etc/no.txt' }, { name: 'NO.txt' }, { name: '..\\x:y' }]);
    expect(await refusal(makePdf([{}]), { format: 'zip', options: '-attachments' })).toMatchObject({
      code: 'CONVERSION_FAILED',
    });
  });

  const signed = pdfOf([
    '<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R]/SigFlags 3>>>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>',
    '<</FT/Sig/T(s)/V<</Type/Sig/ByteRange[0 1 2 3]/Contents<00>>>>>',
  ]);
  const rights = '/Type/Sig/ByteRange[0 1 2 3]/Contents<00>/Reference[<</Type/SigRef/TransformMethod/UR3>>]';
  const extended = (entries: string) =>
    pdfOf([
      `<</Type/Catalog/Pages 2 0 R/Perms<</UR3<<${rights}>>${entries}>>/AcroForm<</Fields[4 0 R]>>>>`,
      '<</Type/Pages/Count 1/Kids[3 0 R]>>',
      '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>',
      '<</FT/Sig/T(unsigned)>>',
    ]);
  const xmp = '<x:xmpmeta xmlns:x="adobe:ns:meta/"><pdfaid:part>2</pdfaid:part></x:xmpmeta>';
  const archived = pdfOf([
    '<</Type/Catalog/Pages 2 0 R/Metadata 4 0 R>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]>>',
    `<</Type/Metadata/Subtype/XML/Length ${xmp.length}>>\nstream\n${xmp}\nendstream`,
  ]);

  it.each([
    ['that is signed', signed, '-number=%p', /would make its signatures invalid.*-force/],
    ['that is certified', extended('/DocMDP<<>>'), '-number=%p', /would make its signatures invalid.*-force/],
    ['that is PDF/A', archived, '-encrypt=secret', /PDF\/A, which does not allow encryption/],
  ])('%s is changed only with -force', async (_, source, options, message) => {
    const error = await refusal(source, { format: 'pdf', options });
    const { files, warnings } = await convert(source, { format: 'pdf', options: `${options} -force` });

    expect(error).toMatchObject({ code: 'CONVERSION_FAILED', message: expect.stringMatching(message) });
    expect(files).toHaveLength(1);
    if (source === archived) expect(files[0]!.includes('pdfaid')).toBe(false);
    expect(warnings).toHaveLength(source === archived ? 1 : 0);
  });

  it.each(['-number=%p', '-linearize'])('with usage rights is not signed for %s', async (options) => {
    const { warnings } = await convert(extended(''), { format: 'pdf', options });

    expect(warnings).toEqual([]);
  });

  it('is changed only as its permissions allow, or with its owner password', async () => {
    const options = '-encrypt=user -owner-password=owner -allow-modify=form';
    const locked = await convertOne(formPdf(), { format: 'pdf', options });

    const fill = await convertOne(locked, {
      format: 'pdf',
      options: `-upw=user -fill=${url('values.json')}`,
    });
    const error = await refusal(locked, { format: 'pdf', options: '-upw=user -number=%p' });
    const owned = await convertOne(locked, { format: 'pdf', options: '-opw=owner -number=%p' });

    expect(error).toMatchObject({ code: 'CONVERSION_FAILED', parameter: '-number' });
    expect(fill.length).toBeGreaterThan(0);
    expect((await readPdf(owned)).pages[0]!.text).toContain('1');
  });
});

/** A check box, two radio buttons and a list, all without an appearance. */
function bareFormPdf(): Buffer {
  const field = (entries: string) => `<</Type/Annot/Subtype/Widget/F 4${entries}>>`;
  return pdfOf([
    '<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[4 0 R 5 0 R 8 0 R]>>>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Annots[4 0 R 6 0 R 7 0 R 8 0 R]>>',
    field('/FT/Btn/T(agree)/Rect[10 20 30 40]'),
    '<</FT/Btn/T(size)/Ff 32768/Kids[6 0 R 7 0 R]/Opt[(middle)(large)]>>',
    field('/Parent 5 0 R/Rect[40 20 60 40]'),
    field('/Parent 5 0 R/Rect[70 20 90 40]'),
    field('/FT/Ch/T(fruit)/Ff 2097152/Opt[(apple)(pear)(fig)]/Rect[100 10 200 60]'),
  ]);
}

/** A page with content and a field on a hidden layer. */
function layeredPdf(): Buffer {
  const content = '/OC /L BDC 0 0 40 40 re f EMC';
  return pdfOf([
    '<</Type/Catalog/Pages 2 0 R/AcroForm<</Fields[5 0 R]>>/OCProperties<</OCGs[4 0 R]/D<</OFF[4 0 R]>>>>>>',
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    '<</Type/Page/Parent 2 0 R/MediaBox[0 0 200 100]/Contents 7 0 R/Annots[5 0 R]/Resources<</Properties<</L 4 0 R>>>>>>',
    '<</Type/OCG/Name(layer)>>',
    '<</Type/Annot/Subtype/Widget/FT/Tx/T(x)/F 4/Rect[60 0 100 40]/OC 4 0 R/AP<</N 6 0 R>>>>',
    '<</Subtype/Form/BBox[0 0 40 40]/Length 15>>\nstream\n0 0 40 40 re f \nendstream',
    `<</Length ${content.length}>>\nstream\n${content}\nendstream`,
  ]);
}
