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
import type { ConversionError } from '../../../functions/shared/errors.ts';
import type { EngineDependencies } from '../../../functions/shared/tool.ts';
import { unzip } from '../../zip.ts';
import { useEngine } from '../conversion.ts';
import { makeDocx } from '../engines/office/detect/archives.ts';
import { readPdf } from '../engines/office/read-pdf.ts';
import { drawing, LEAKS } from './leaks.ts';

const { convertOne } = useEngine(doc2any, (dependencies) => createEngine(dependencies as EngineDependencies));

const IMAGE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/image';
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

function addresses(): string[] {
  const { port } = server.address() as AddressInfo;
  const files = ['png', 'txt', 'csv', 'rtf', 'docx'].map(
    (type) => pathToFileURL(join(outside, `canary.${type}`)).href,
  );
  return [`http://127.0.0.1:${port}/canary.png`, `http://127.0.0.1:${port}/canary.docx`, ...files];
}

describe('a document with external references', () => {
  it.each(LEAKS.map((leak) => [leak.name, leak] as const))(
    '%s: reaches no server and no file',
    async (_, leak) => {
      const before = connections;
      const texts: string[] = [];
      let green = 0;

      for (const address of addresses()) {
        const pages = await readPdf(await convertOne(leak.make(address), { format: 'pdf' }));
        texts.push(...pages.map(({ text }) => text));
        green += pages.reduce((sum, { pixels }) => sum + countGreen(pixels), 0);
      }

      expect(connections).toBe(before);
      expect(texts.join()).not.toContain(CANARY);
      expect(green).toBe(0);
    },
  );

  it.each(LEAKS.map((leak) => [leak.name, leak] as const))(
    '%s: brings nothing into a format that can be edited',
    async (_, leak) => {
      const before = connections;
      const picture = await readFile(join(outside, 'canary.png'));

      for (const address of addresses().filter((each) => /png|txt/.test(each))) {
        for (const part of await editedParts(leak.make(address))) {
          expect(part.includes(CANARY)).toBe(false);
          expect(part.equals(picture)).toBe(false);
          expect(part.includes(picture.toString('base64').slice(0, 60))).toBe(false);
        }
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

/** The parts of what a document becomes: in HTML and OpenDocument for a text, in Office Open XML otherwise. */
async function editedParts(source: Buffer): Promise<Buffer[]> {
  for (const format of ['odt', 'xlsx', 'pptx'] as const) {
    const archive = await convertOne(source, { format }).catch((thrown: ConversionError) => {
      if (thrown.code !== 'UNSUPPORTED_CONVERSION') throw thrown;
    });
    if (!archive) continue;
    const parts = (await unzip(archive)).map(({ content }) => content);
    return format === 'odt' ? [...parts, await convertOne(source, { format: 'html' })] : parts;
  }
  return [];
}

/** Regardless of the order of the channels. */
function countGreen(pixels: Uint8Array): number {
  let green = 0;
  for (let at = 0; at < pixels.length; at += 4) {
    green += pixels[at]! < 80 && pixels[at + 1]! > 200 && pixels[at + 2]! < 80 ? 1 : 0;
  }
  return green;
}
