import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { type Claims, recognize } from '../../../../functions/doc2any/detect/recognize.ts';
import { ConversionError } from '../../../../functions/shared/errors.ts';
import { makeArchive, makeDocx } from './archives.ts';

const fixture = (name: string) => readFile(join(import.meta.dirname, '../../../fixtures/office', name));
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
  ])('knows %s by its bytes, whatever it is called', async (name, kind, encrypted) => {
    const found = await recognize(await fixture(name), {
      declared: 'ppt',
      name: 'x.html',
      contentType: 'text/html',
    });

    expect(found).toEqual({ kind, encrypted });
  });

  it.each([
    ['what the caller says', { declared: 'csv' as const }, 'csv'],
    ['its name', { name: 'list.CSV' }, 'csv'],
    ['its media type', { contentType: 'text/plain' }, 'txt'],
  ])('knows plain text by %s', async (_, claims, kind) => {
    const found = await recognize(Buffer.from('a,b\nä,d\n'), { ...silent, ...claims });

    expect(found).toEqual({ kind, encrypted: false });
  });

  it.each([
    ['HTML', '<html><img src="http://127.0.0.1/"></html>'],
    ['HTML after blank lines', '\n\n  <!DOCTYPE html><p>x'],
    ['HTML after text', 'Dear reader,\n<html><body>x</body></html>'],
    ['HTML with a byte order mark', '\ufeff<html>x</html>'],
    ['SVG', '<svg xmlns="http://www.w3.org/2000/svg"><image href="file:///etc/passwd"/></svg>'],
    ['flat ODF', '<?xml version="1.0"?><office:document office:mimetype="x"/>'],
    ['Word 2003 XML', '<?xml version="1.0"?><?mso-application progid="Word.Document"?><w:wordDocument/>'],
    ['a web archive', 'MIME-Version: 1.0\nContent-Type: multipart/related\n\n'],
    ['a PDF', '%PDF-1.7\n'],
    ['bytes of no kind', '\x00\x01\x02\x03'],
    ['text of no name', 'a,b\n'],
  ])('refuses %s', async (title, content) => {
    const named =
      title === 'text of no name' ? [{}] : [{}, { declared: 'txt' as const }, { name: 'letter.doc' }];

    const codes = await Promise.all(named.map((claims) => codeOf(Buffer.from(content), claims)));

    expect(new Set(codes)).toEqual(new Set(['UNSUPPORTED_SOURCE']));
  });

  it('refuses an archive that is no document', async () => {
    const code = await codeOf(makeArchive([{ name: 'readme.txt', content: 'hello' }]));

    expect(code).toBe('UNSUPPORTED_SOURCE');
  });

  it.each([
    ['nothing at all', async () => Buffer.alloc(0)],
    ['half an archive', () => fixture('damaged.docx')],
    ['half a container', async () => (await fixture('text.doc')).subarray(0, 600)],
    ['a container whose chain comes back', async () => loopingContainer(await fixture('text.doc'))],
  ])('calls %s damaged', async (_, bytes) => {
    const code = await codeOf(await bytes());

    expect(code).toBe('CORRUPT_SOURCE');
  });

  it.each(['utf8', 'utf16le'] as const)(
    'refuses OOXML that declares a document type, in %s',
    async (encoding) => {
      const content = Buffer.from(
        '<!DOCTYPE a [<!ENTITY b SYSTEM "file:///etc/passwd">]><a>&b;</a>',
        encoding,
      );

      const code = await codeOf(makeDocx({ more: [{ name: 'word/styles.xml', content }] }));

      expect(code).toBe('CORRUPT_SOURCE');
    },
  );

  it('finds a document type that two pieces share', async () => {
    // Inflated by a stream, in pieces of 16 kB: noise that does not shrink, with the words across each border.
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
  const zeros = Buffer.alloc(30_000_000);

  it('are refused by what comes out, not by what they claim', async () => {
    const bomb = makeArchive([{ name: 'word/document.xml', content: zeros }], { claim: 100 });
    const started = Date.now();

    const code = await codeOf(bomb);

    expect(bomb.length).toBeLessThan(40_000);
    expect(code).toBe('SOURCE_TOO_LARGE');
    expect(Date.now() - started).toBeLessThan(2000);
  });

  it('are refused by the number of their parts', async () => {
    const parts = Array.from({ length: 5001 }, (_, index) => ({ name: `${index}.xml`, content: '' }));

    const code = await codeOf(makeArchive(parts));

    expect(code).toBe('SOURCE_TOO_LARGE');
  });

  it('are not taken for those that merely shrink well', async () => {
    const found = await recognize(
      makeDocx({ more: [{ name: 'a.bin', content: zeros.subarray(0, 15_000_000) }] }),
      silent,
    );

    expect(found.kind).toBe('docx');
  });
});

/** Lets the table of sectors say that the directory's first sector is followed by itself. */
function loopingContainer(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes);
  const directory = copy.readUInt32LE(48);
  const table = copy.readUInt32LE(76);
  copy.writeUInt32LE(directory, (table + 1) * 512 + directory * 4);
  return copy;
}
