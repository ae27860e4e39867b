import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../functions/doc2any/tool.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';
import type { Format } from '../../../functions/shared/formats.ts';
import { list } from '../../helpers/list.ts';
import { unzip } from '../../helpers/zip.ts';
import type { LeakFile, Target } from '../../security/attacks/office.ts';
import { LEAK_FILES } from '../../security/attacks/ooxml.ts';
import { useEngine } from '../conversion.ts';
import { drawing, makeDocx } from '../engines/office/detect/archives.ts';
import { readPdf } from '../engines/office/read-pdf.ts';
import { EXTENT } from '../extent.ts';

const { convertOne } = useEngine(doc2any, createEngine);

const IMAGE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/image';
/** The leaks of each kind that the first ring tries. The lab tries all. */
const USUAL = list`
  docx: linked picture, docx: embedded picture elsewhere, docx: vml picture, docx: picture field, docx: text field, docx: dde field,
  docx: linked object, docx: foreign part, docx: document inside, docx: template, xlsx: web service, xlsx: linked book,
  xlsx: indirect reference, xlsx: dde formula, odt: picture, odt: section, odt: object, odt: plugin, odt: floating frame,
  ods: linked sheet, ods: linked cells, ods: web service, rtf: picture field, rtf: text field, rtf: template
`;
const LEAKS = LEAK_FILES.filter(({ name }) => EXTENT.isWhole || USUAL.includes(name));

/** Text and color that occur in no document of this test. */
const CANARY = 'KANARIENVOGEL';
let outside: string;
let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.destroy();
});

beforeAll(async () => {
  // Next to the engine's own directory, readable by everyone.
  outside = await mkdtemp(join(tmpdir(), 'outside-'));
  const green = sharp({ create: { width: 64, height: 64, channels: 3, background: '#00ff00' } });
  await writeFile(join(outside, 'canary.png'), await green.png().toBuffer());
  await writeFile(join(outside, 'canary.txt'), CANARY);
  await writeFile(join(outside, 'canary.csv'), CANARY);
  await writeFile(join(outside, 'canary.rtf'), `{\\rtf1 ${CANARY}}`);
  await writeFile(
    join(outside, 'canary.docx'),
    makeDocx({ body: `<w:p><w:r><w:t>${CANARY}</w:t></w:r></w:p>` }),
  );
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});

afterAll(async () => {
  server.close();
  await rm(outside, { recursive: true, force: true });
});

/** Where a document could load from: a server, and files of the kind that LibreOffice would show. */
function targetsOf({ name }: LeakFile): { remote: Target; files: Target[] } {
  const { port } = server.address() as AddressInfo;
  const types = name.includes('picture') ? (['png'] as const) : (['txt', 'csv', 'rtf', 'docx'] as const);
  const files = types.map((type) => {
    const path = join(outside, `canary.${type}`);
    return { url: pathToFileURL(path).href, path };
  });
  return {
    remote: { url: `http://127.0.0.1:${port}/canary.${types[0]}`, path: '\\\\127.0.0.1\\share\\canary' },
    files: EXTENT.isWhole ? files : files.slice(0, 1),
  };
}

/** Converts a document whose reference has this target. Returns `undefined` if it is refused. */
async function convert(leak: LeakFile, target: Target, format: Format): Promise<Buffer | undefined> {
  const source = await leak.bytes(target);
  return convertOne(source, { format, name: `a.${leak.extension}` }).catch((thrown: unknown) => {
    if (thrown instanceof ConversionError && thrown.code !== 'INTERNAL' && !USUAL.includes(leak.name))
      return undefined;
    throw thrown;
  });
}

describe('a document with external references', () => {
  it.each(LEAKS.map((leak) => [leak.name, leak] as const))(
    '%s: reaches no server and no file',
    async (_, leak) => {
      const before = connections;
      const { remote, files } = targetsOf(leak);

      for (const target of [remote, ...files]) {
        const pdf = await convert(leak, target, 'pdf');
        for (const { text, pixels } of pdf ? await readPdf(pdf) : []) {
          expect(text).not.toContain(CANARY);
          expect(countGreen(pixels)).toBe(0);
        }
      }

      expect(connections).toBe(before);
    },
  );

  // For each of these, LibreOffice starts anew.
  const edited = LEAKS.filter(({ name }) => EXTENT.isWhole || name === 'odt: picture');
  it.each(edited.map((leak) => [leak.name, leak] as const))(
    '%s: brings nothing into a format that can be edited',
    async (_, leak) => {
      const before = connections;
      const picture = await readFile(join(outside, 'canary.png'));
      const { remote, files } = targetsOf(leak);
      // Every format loads the document in the same way, and HTML also contains the pictures that OpenDocument links to.
      const format = ['xlsx', 'ods'].includes(leak.extension) ? 'xlsx' : 'html';

      await convert(leak, remote, format);
      const file = (await convert(leak, files[0]!, format)) ?? Buffer.alloc(0);

      const parts =
        format === 'html' || file.length === 0 ? [file] : (await unzip(file)).map(({ content }) => content);
      for (const part of parts) {
        expect(part.includes(CANARY)).toBe(false);
        expect(part.equals(picture)).toBe(false);
        expect(part.includes(picture.toString('base64').slice(0, 60))).toBe(false);
      }
      expect(connections).toBe(before);
    },
  );

  it('would show them, as it shows the same picture inside the document', async () => {
    const content = await readFile(join(outside, 'canary.png'));
    const source = makeDocx({
      body: drawing('r:embed="here"'),
      relationships: `<Relationship Id="here" Type="${IMAGE}" Target="media/canary.png"/>`,
      more: [{ name: 'word/media/canary.png', content }],
    });

    const [page] = await readPdf(await convertOne(source, { format: 'pdf' }));

    expect(countGreen(page!.pixels)).toBeGreaterThan(100);
  });
});

/** Regardless of the order of the channels. */
function countGreen(pixels: Uint8Array): number {
  let green = 0;
  for (let at = 0; at < pixels.length; at += 4) {
    green += pixels[at]! < 80 && pixels[at + 1]! > 200 && pixels[at + 2]! < 80 ? 1 : 0;
  }
  return green;
}
