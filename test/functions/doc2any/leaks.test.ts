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
import type { EngineSurroundings } from '../../../functions/shared/tool.ts';
import { useEngine } from '../conversion.ts';
import { makeDocx } from './archives.ts';
import { drawing, LEAKS } from './leaks.ts';
import { readPdf } from './read-pdf.ts';

const { convert, convertOne } = useEngine(doc2any, (surroundings) =>
  createEngine(surroundings as EngineSurroundings),
);

const IMAGE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships/image';
/** Nothing that is converted here says so, or is green. */
const CANARY = 'KANARIENVOGEL';
let outside: string;
let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.destroy();
});

beforeAll(async () => {
  // Beside the engine's own directory, readable for everyone.
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

describe('a document that points outside itself', () => {
  it.each(LEAKS.map((leak) => [leak.name, leak] as const))(
    '%s: reaches no server and no file',
    async (_, leak) => {
      const before = connections;
      const texts: string[] = [];
      let green = 0;

      for (const address of addresses()) {
        const source = leak.make(address);
        const { files } = await convert(source, { format: 'pdf' });
        texts.push(...(await readPdf(files[0]!)).map(({ text }) => text));
        const { data } = await sharp(await convertOne(source, { format: 'png', options: '-r=20' }))
          .raw()
          .toBuffer({ resolveWithObject: true });
        for (let at = 0; at < data.length; at += 3)
          green += data[at]! < 80 && data[at + 1]! > 200 && data[at + 2]! < 80 ? 1 : 0;
      }

      expect(connections).toBe(before);
      expect(texts.join()).not.toContain(CANARY);
      expect(green).toBe(0);
    },
  );

  it('would be seen: the same picture inside the document is', async () => {
    const content = await readFile(join(outside, 'canary.png'));
    const source = makeDocx({
      body: drawing('r:embed="here"'),
      relationships: `<Relationship Id="here" Type="${IMAGE}" Target="media/canary.png"/>`,
      more: [{ name: 'word/media/canary.png', content }],
    });

    const png = await convertOne(source, { format: 'png', options: '-r=20' });

    const { channels } = await sharp(png).stats();
    expect(channels[0]!.min).toBeLessThan(80);
    expect(channels[1]!.mean).toBeGreaterThan(channels[0]!.mean);
  });
});
