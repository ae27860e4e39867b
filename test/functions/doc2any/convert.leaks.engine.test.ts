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
import type { Editable } from '../../../functions/engines/office/outputs.ts';
import type { EngineDependencies } from '../../../functions/shared/tool.ts';
import { unzip } from '../../helpers/zip.ts';
import { useEngine } from '../conversion.ts';
import { makeDocx } from '../engines/office/detect/archives.ts';
import { readPdf } from '../engines/office/read-pdf.ts';
import { drawing, LEAKS, type Leak } from './leaks.ts';

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

/** Where a document could load from: a server, and files of the kind that LibreOffice would show. */
function addresses({ loads }: Leak) {
  const { port } = server.address() as AddressInfo;
  const types = loads === 'picture' ? (['png'] as const) : (['txt', 'csv', 'rtf', 'docx'] as const);
  const url = (type: string) => `http://127.0.0.1:${port}/canary.${type}`;
  const file = (type: string) => pathToFileURL(join(outside, `canary.${type}`)).href;
  return { urls: ['png', 'docx'].map(url), url: url(types[0]), files: types.map(file), file: file(types[0]) };
}

describe('a document with external references', () => {
  it.each(LEAKS.map((leak) => [leak.name, leak] as const))(
    '%s: reaches no server and no file',
    async (_, leak) => {
      const before = connections;
      const texts: string[] = [];
      let green = 0;

      const { urls, files } = addresses(leak);
      for (const address of [...urls, ...files]) {
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

      const { url, file } = addresses(leak);
      const isSheet = ['xlsx', 'ods'].includes(leak.extension);

      // Every format loads the document in the same way, and HTML also contains the pictures that OpenDocument links to.
      await editedParts(leak.make(url), isSheet ? ['xlsx'] : ['html']);
      for (const part of await editedParts(leak.make(file), isSheet ? ['xlsx'] : ['odt', 'html'])) {
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

/** The parts of what a document becomes. */
async function editedParts(source: Buffer, formats: readonly Editable[]): Promise<Buffer[]> {
  const parts: Buffer[] = [];
  for (const format of formats) {
    const file = await convertOne(source, { format });
    parts.push(...(format === 'html' ? [file] : (await unzip(file)).map(({ content }) => content)));
  }
  return parts;
}

/** Regardless of the order of the channels. */
function countGreen(pixels: Uint8Array): number {
  let green = 0;
  for (let at = 0; at < pixels.length; at += 4) {
    green += pixels[at]! < 80 && pixels[at + 1]! > 200 && pixels[at + 2]! < 80 ? 1 : 0;
  }
  return green;
}
