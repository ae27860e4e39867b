import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { InflateRaw, ZlibOptions } from 'node:zlib';
import { describe, expect, it, vi } from 'vitest';
import { recognize } from '../../../../../functions/engines/office/detect/recognize.ts';
import type { Claims } from '../../../../../functions/engines/office/inputs.ts';
import { ConversionError } from '../../../../../functions/shared/errors.ts';
import { makeArchive, makeDocx } from './archives.ts';

/** Records the bytes that were inflated in one piece, and the streams that inflate. */
const work = vi.hoisted(() => ({ inflated: 0, streams: [] as InflateRaw[] }));
vi.mock('node:zlib', async (importOriginal) => {
  const zlib = await importOriginal<typeof import('node:zlib')>();
  const inflateRaw = (
    data: Buffer,
    options: ZlibOptions,
    done: (error: Error | null, bytes: Buffer) => void,
  ) =>
    zlib.inflateRaw(data, options, (error, bytes) => {
      work.inflated += bytes?.length ?? 0;
      done(error, bytes);
    });
  const createInflateRaw = (options: ZlibOptions) => {
    const stream = zlib.createInflateRaw(options);
    work.streams.push(stream);
    return stream;
  };
  return { ...zlib, inflateRaw, createInflateRaw };
});

const fixture = (name: string) => readFile(join(import.meta.dirname, '../../../../fixtures/office', name));
const silent: Claims = { declared: undefined, name: '', contentType: '' };

async function codeOf(bytes: Buffer, claims: Partial<Claims> = {}) {
  const thrown = await recognize(bytes, { ...silent, ...claims }).catch((error: unknown) => error);
  return thrown instanceof ConversionError ? thrown.code : thrown;
}

describe('recognize', () => {
  it.each([
    ['text.docx', 'docx', false],
    ['text.doc', 'doc', false],
    ['text.rtf', 'rtf', false],
    ['text.odt', 'odt', false],
    ['sheet.xlsx', 'xlsx', false],
    ['sheet.xls', 'xls', false],
    ['sheet.ods', 'ods', false],
    ['slides.pptx', 'pptx', false],
    ['slides.ppt', 'ppt', false],
    ['slides.odp', 'odp', false],
    ['locked.doc', 'doc', true],
    ['locked.xls', 'xls', true],
    ['locked.odt', 'odt', true],
    ['locked.docx', 'docx', true],
  ])('recognizes %s by its content, whatever its name', async (name, kind, encrypted) => {
    const found = await recognize(await fixture(name), {
      declared: 'ppt',
      name: 'x.html',
      contentType: 'text/html',
    });

    expect(found).toEqual({ kind, encrypted });
  });

  it.each([
    ['in_ext', { declared: 'csv' as const }, 'csv'],
    ['its name', { name: 'list.CSV' }, 'csv'],
    ['its media type', { contentType: 'text/plain' }, 'txt'],
    ['the name of a sheet', { name: 'export.xls' }, 'csv'],
    ['the name of a text', { name: 'letter.doc' }, 'txt'],
    ['nothing', {}, 'txt'],
  ])('recognizes plain text by %s', async (_, claims, kind) => {
    const found = await recognize(Buffer.from('a,b\nä,d\n'), { ...silent, ...claims });

    expect(found).toMatchObject({ kind, encrypted: false });
  });

  it.each([
    ['HTML', '<html><body>x</body></html>', 'letter.doc', 'html'],
    ['an HTML table called xls', '<table><tr><td>x</td></tr></table>', 'export.xls', 'xls'],
    ['HTML after blank lines', '\n\n  <!DOCTYPE html><p>x', '', 'html'],
    ['HTML after text', 'Dear reader,\n<html><body>x</body></html>', '', 'html'],
    ['HTML with a byte order mark', '\ufeff<html>x</html>', '', 'html'],
    ['XHTML', '<?xml version="1.0"?><!DOCTYPE html PUBLIC "x" "y"><html><body/></html>', '', 'html'],
    [
      'flat ODF',
      '<?xml version="1.0"?><office:document office:mimetype="application/vnd.oasis.opendocument.spreadsheet"/>',
      'a.doc',
      'fods',
    ],
    [
      'Word 2003 XML',
      '<?xml version="1.0"?><?mso-application progid="Word.Document"?><w:wordDocument/>',
      '',
      'doc',
    ],
    [
      'Excel 2003 XML',
      '<?xml version="1.0"?><?mso-application progid="Excel.Sheet"?><Workbook/>',
      'a.doc',
      'xls',
    ],
  ])('recognizes %s', async (_, content, name, kind) => {
    const found = await recognize(Buffer.from(content), { ...silent, name });

    expect(found).toMatchObject({ kind });
  });

  it.each([
    ['SVG', '<!-- a --><svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'],
    ['a PDF', '%PDF-1.7\n'],
    ['bytes of no kind', '\x00\x01\x02\x03'],
  ])('rejects %s under any name', async (_, content) => {
    const named = [{}, { declared: 'txt' as const }, { name: 'letter.doc' }, { name: 'table.csv' }];

    const codes = await Promise.all(named.map((claims) => codeOf(Buffer.from(content), claims)));

    expect(new Set(codes)).toEqual(new Set(['UNSUPPORTED_SOURCE']));
  });

  it.each([
    [{ declared: 'txt' as const }, 'txt'],
    [{ name: 'table.csv' }, 'csv'],
  ])('accepts white space as text with the claims %j', async (claims, kind) => {
    expect(await recognize(Buffer.from(' \r\n\t '), { ...silent, ...claims })).toMatchObject({ kind });
  });

  it.each([{}, { name: 'letter.doc' }])('rejects white space with the claims %j', async (claims) => {
    expect(await codeOf(Buffer.from(' \r\n\t '), claims)).toBe('UNSUPPORTED_SOURCE');
  });

  it('rejects XML with entities, wherever they are declared', async () => {
    const comment = `<!--${'x'.repeat(200_000)}-->`;
    const entity = `<?xml version="1.0"?>${comment}<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>`;

    const codes = await Promise.all(
      ['a.doc', 'a.xls', 'a.xml'].map((name) => codeOf(Buffer.from(entity), { name })),
    );

    expect(new Set(codes)).toEqual(new Set(['CORRUPT_SOURCE']));
  });

  it('rejects an archive that is not a document', async () => {
    const code = await codeOf(makeArchive([{ name: 'readme.txt', content: 'hello' }]));

    expect(code).toBe('UNSUPPORTED_SOURCE');
  });

  it.each([
    ['plain text', 'name;size\n', 'txt'],
    ['HTML', '<html><body>name</body></html>', 'UNSUPPORTED_SOURCE'],
  ])('recognizes %s in UTF-32 only if it is written anew in UTF-8', async (_, text, expected) => {
    const wide = Buffer.from(Uint32Array.from(text, (letter) => letter.codePointAt(0)!).buffer);

    const found = await recognize(wide, silent).catch((error: unknown) => error);

    expect(found).toMatchObject(expected === 'txt' ? { kind: 'txt', text } : { code: expected });
  });

  it.each([
    [
      'a mail',
      'From: a@b.c\nTo: d@e.f\nSubject: =?utf-8?q?x?=\n folded\nMIME-Version: 1.0\n\nHello\n',
      'a.eml',
    ],
    ['a mail with CRLF', 'Received: x\r\nFrom: a@b.c\r\nTo: d@e.f\r\n\r\n<html><body>x</body></html>', ''],
    ['a saved web page', 'From: <x>\nSubject: x\nMIME-Version: 1.0\n\n--x\n\n<html></html>', 'a.mht'],
    ['PostScript', '%!PS-Adobe-3.0\nshowpage\n', 'a.ps'],
    ['a print job', '\x1b%-12345X@PJL\n%!PS\n', ''],
  ])('rejects %s', async (_, text, name) => {
    expect(await codeOf(Buffer.from(text), { name })).toBe('UNSUPPORTED_SOURCE');
  });

  it.each([
    ['a mail that is called a text', 'From: a\nTo: b\nSubject: c\n\nx', 'a.txt'],
    ['a letter', 'Subject: not a mail\n\nFrom: here on it is text.\n', ''],
  ])('accepts %s', async (_, text, name) => {
    expect(await recognize(Buffer.from(text), { ...silent, name })).toMatchObject({ kind: 'txt' });
  });

  it('rejects an Outlook message', async () => {
    const bytes = renameStream(await fixture('text.doc'), '\x01CompObj', '__properties_version1.0');

    expect(await codeOf(bytes, { name: 'a.msg' })).toBe('UNSUPPORTED_SOURCE');
  });

  it.each([
    [['Index/Document.iwa', 'Index/Slide-1.iwa'], '', 'key'],
    [['Index/Document.iwa', 'Index/Sheet.iwa'], 'a', 'numbers'],
    [['Index/Document.iwa'], '', 'pages'],
    [['Index.zip'], 'a.numbers', 'numbers'],
    [['index.apxl'], '', 'key'],
  ])('recognizes an iWork document of %j called %j', async (names, name, kind) => {
    const bytes = makeArchive(names.map((part) => ({ name: part, content: 'x' })));

    expect((await recognize(bytes, { ...silent, name })).kind).toBe(kind);
  });

  it('rejects an empty source', async () => {
    const code = await codeOf(Buffer.alloc(0));

    expect(code).toBe('CORRUPT_SOURCE');
  });

  it('recognizes parts and streams whose names are in another case', async () => {
    const lower = makeArchive([
      { name: '[content_types].XML', content: '<Types/>' },
      { name: 'XL/Workbook.xml', content: '<workbook/>' },
    ]);
    const upper = renameStream(await fixture('text.doc'), 'WordDocument', 'WORDDOCUMENT');

    const kinds = await Promise.all([lower, upper].map((bytes) => recognize(bytes, silent)));

    expect(kinds.map(({ kind }) => kind)).toEqual(['xlsx', 'doc']);
  });

  it.each([
    ['half an archive', () => fixture('damaged.docx'), 'docx'],
    ['half a container', async () => (await fixture('text.doc')).subarray(0, 600), 'doc'],
    ['a container with a cyclic chain', async () => cyclicContainer(await fixture('text.doc')), 'doc'],
  ])('leaves it to LibreOffice whether %s is damaged', async (_, bytes, kind) => {
    const found = await recognize(await bytes(), { ...silent, name: `a.${kind}` });

    expect(found.kind).toBe(kind);
  });

  it.each([
    ['Excel 4', Buffer.from('090406000000100000000a000000', 'hex'), 'xls'],
    ['Word 2', Buffer.from('dba52d0000000000000000000000', 'hex'), 'doc'],
    ['WordPerfect 6', Buffer.from('ff57504300000000010a02010000', 'hex'), 'wpd'],
  ])('recognizes the stream of %s, which has no container', async (_, bytes, kind) => {
    const found = await recognize(bytes, silent);

    expect(found.kind).toBe(kind);
  });

  it('takes the variant from the name, but not another module', async () => {
    const source = await fixture('text.docx');

    const found = await Promise.all(
      ['a.docm', 'a.dotx', 'a.xlsx', 'a'].map((name) => recognize(source, { ...silent, name })),
    );

    expect(found.map(({ kind }) => kind)).toEqual(['docm', 'dotx', 'docx', 'docx']);
  });

  it.each(['utf8', 'utf16le'] as const)(
    'rejects Office Open XML with a DOCTYPE declaration in %s',
    async (encoding) => {
      const content = Buffer.from(
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        encoding,
      );

      const code = await codeOf(makeDocx({ more: [{ name: 'word/styles.xml', content }] }));

      expect(code).toBe('CORRUPT_SOURCE');
    },
  );

  it('finds a DOCTYPE declaration that is split between two pieces', async () => {
    // Incompressible, so that it is inflated in pieces of 16 kB, with the words across each border.
    const noise = Buffer.from(crypto.getRandomValues(new Uint8Array(60_000))).toString('base64');
    const pieces = noise.match(/.{16379}/g)!.map((text) => `${text}<!DOC`);

    const code = await codeOf(
      makeDocx({
        more: [{ name: 'word/noise.xml', content: `${pieces.join('TYPE a>')}${noise.repeat(3)}` }],
      }),
    );

    expect(code).toBe('CORRUPT_SOURCE');
  });
});

describe('bombs', () => {
  const zeros = Buffer.alloc(25_000_000);

  it('are rejected by their actual inflated size, before other parts are inflated', async () => {
    const parts = Array.from({ length: 3 }, (_, index) => ({ name: `${index}.xml`, content: zeros }));
    const bomb = makeArchive(parts, { claim: 100 });
    work.inflated = 0;

    const code = await codeOf(bomb);

    expect(code).toBe('SOURCE_TOO_LARGE');
    expect(work.inflated).toBe(zeros.length);
  });

  it('are rejected in the middle of a large part', async () => {
    const noise = crypto.getRandomValues(new Uint8Array(60_000));
    const content = Buffer.concat([zeros, zeros, zeros, noise, noise]);
    const bomb = makeArchive([{ name: 'word/document.xml', content }], { claim: 100 });
    work.streams.length = 0;

    const code = await codeOf(bomb);

    expect(code).toBe('SOURCE_TOO_LARGE');
    expect(work.streams).toHaveLength(1);
    expect(work.streams[0]!.bytesWritten).toBeLessThan(bomb.length / 2);
  });

  it('are also rejected without a directory', async () => {
    const bomb = makeArchive([{ name: 'word/document.xml', content: zeros }]);

    const code = await codeOf(bomb.subarray(0, -100));

    expect(code).toBe('SOURCE_TOO_LARGE');
  });

  it('are rejected by the number of their parts', async () => {
    const parts = Array.from({ length: 5001 }, (_, index) => ({ name: `${index}.xml`, content: '' }));
    const bomb = makeArchive(parts);

    const codes = await Promise.all([bomb, bomb.subarray(0, -50)].map((bytes) => codeOf(bytes)));

    expect(codes).toEqual(['SOURCE_TOO_LARGE', 'SOURCE_TOO_LARGE']);
  });

  it('are distinguished from documents that merely compress well', async () => {
    const found = await recognize(
      makeDocx({ more: [{ name: 'a.bin', content: zeros.subarray(0, 15_000_000) }] }),
      silent,
    );

    expect(found.kind).toBe('docx');
  });
});

/** Links the directory's first sector to itself in the allocation table. */
function cyclicContainer(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const directory = copy.readUInt32LE(48);
  const table = copy.readUInt32LE(76);
  copy.writeUInt32LE(directory, (table + 1) * 512 + directory * 4);
  return copy;
}

function renameStream(bytes: Buffer, from: string, to: string): Buffer {
  const copy = Buffer.from(bytes);
  const entry = copy.indexOf(Buffer.from(from, 'utf16le'));
  Buffer.from(`${to}\0`, 'utf16le').copy(copy, entry);
  copy.writeUInt16LE(2 * to.length + 2, entry + 64);
  return copy;
}
