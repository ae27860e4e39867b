import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { readdir, readFile, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createEngine } from '../../../../functions/doc2any/convert.ts';
import { doc2any } from '../../../../functions/doc2any/tool.ts';
import type { EngineDependencies } from '../../../../functions/shared/tool.ts';
import { useEngine } from '../../conversion.ts';
import { LEAKS } from '../../doc2any/leaks.ts';
import { makeDocx } from './detect/archives.ts';
import { readPdf } from './read-pdf.ts';

const BUILT = join(import.meta.dirname, '../../../../dist/layers');
const CANARY = 'KANARIENVOGEL';
/** Timeout for starting a program under load, which the first document needs twice. */
const LONG = 120_000;
const layers = mkdtempSync(join(tmpdir(), 'layers-'));
let connections = 0;
const server = createServer((socket) => {
  connections += 1;
  socket.destroy();
});
const warnings: string[] = [];
process.on('warning', ({ message }) => warnings.push(message));

// A layer without a host. Everything else is linked, as on Lambda.
for (const name of ['fonts', 'sandbox', 'pdf']) symlinkSync(join(BUILT, name), join(layers, name));
linkAllBut('program', join(BUILT, 'libreoffice'), join(layers, 'libreoffice'));
linkAllBut('host', join(BUILT, 'libreoffice/program'), join(layers, 'libreoffice/program'));

const { convert, convertOne, refusal } = useEngine(doc2any, (dependencies) =>
  createEngine({ ...dependencies, layers } as EngineDependencies),
);

function linkAllBut(left: string, from: string, to: string): void {
  mkdirSync(to);
  for (const name of readdirSync(from)) if (name !== left) symlinkSync(join(from, name), join(to, name));
}

const fixture = (name: string) => readFile(join(import.meta.dirname, '../../../fixtures/office', name));
const pipes = async () => (await readdir('/tmp')).filter((name) => name.startsWith('OSL_PIPE_Single'));

let pipesBefore: readonly string[];
beforeAll(async () => {
  pipesBefore = await pipes();
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
});

afterAll(() => {
  server.close();
  rmSync(layers, { recursive: true });
});

describe('without a warm host', () => {
  it.each([
    ['text.docx', 'Zeile 30'],
    ['text.rtf', 'Zeile 30'],
    ['sheet.xls', 'Zweites Blatt'],
    ['slides.pptx', ''],
    ['table.csv', ''],
    ['plain.txt', ''],
  ])(
    '%s is converted',
    async (name, words) => {
      const { files, pageCount } = await convert(await fixture(name), {
        format: 'pdf',
        options: /\.(csv|txt)$/.test(name) ? `in_ext=${name.slice(-4)}` : '',
        time: LONG,
      });

      const pages = await readPdf(files[0]!);
      expect(pages.length).toBe(pageCount);
      expect(pages.map(({ text }) => text).join('\n')).toContain(words);
    },
    LONG,
  );

  it(
    'returns the requested pages',
    async () => {
      const source = await fixture('text.docx');

      const [page, ...more] = await readPdf(
        await convertOne(source, { format: 'pdf', options: '-f=2 -l=2', time: LONG }),
      );

      expect(page!.text).toContain('Zweite Seite');
      expect(more).toEqual([]);
    },
    LONG,
  );

  it(
    'shows no folder of the service in a field with the path of the document',
    async () => {
      const source = makeDocx({ body: '<w:p><w:fldSimple w:instr=" FILENAME \\p "/></w:p>' });

      const [page] = await readPdf(
        await convertOne(source, { format: 'pdf', name: 'Umsatz.docx', time: LONG }),
      );

      expect(page!.text).toContain('/proc/self/cwd/Umsatz.docx');
    },
    LONG,
  );

  it.each([
    ['damaged.docx', '', 'CORRUPT_SOURCE'],
    ['locked.docx', '', 'PASSWORD_REQUIRED'],
    ['locked.docx', '--password=secret', 'CONVERSION_FAILED'],
    ['text.docx', '--landscape', 'CONVERSION_FAILED'],
    ['hidden-second.pptx', '-f=2 -l=2', 'CONVERSION_FAILED'],
  ])(
    '%s with "%s" ends in %s',
    async (name, options, code) => {
      const source = await fixture(name);

      const error = await refusal(source, { format: 'pdf', options, time: LONG });

      expect(error.code).toBe(code);
    },
    LONG,
  );

  it.each(LEAKS.map((leak) => [leak.name, leak] as const))(
    '%s: reaches no server and no file',
    async (_, leak) => {
      const outside = join(layers, 'canary.docx');
      await writeFile(outside, makeDocx({ body: `<w:p><w:r><w:t>${CANARY}</w:t></w:r></w:p>` }));
      const { port } = server.address() as AddressInfo;

      for (const address of [`http://127.0.0.1:${port}/canary.docx`, pathToFileURL(outside).href]) {
        const pages = await readPdf(await convertOne(leak.make(address), { format: 'pdf', time: LONG }));
        expect(pages.map(({ text }) => text).join()).not.toContain(CANARY);
      }

      expect(connections).toBe(0);
    },
    LONG,
  );

  it('leaves no socket and warns once', async () => {
    expect((await pipes()).filter((name) => !pipesBefore.includes(name))).toEqual([]);
    expect(
      warnings.filter((text) => text.startsWith('The warm LibreOffice host failed to start')),
    ).toHaveLength(1);
  });

  it(
    'uses the warm host again soon after it can be started',
    async () => {
      symlinkSync(join(BUILT, 'libreoffice/program/host'), join(layers, 'libreoffice/program/host'));
      const source = await fixture('text.docx');
      // Only the warm host can.
      const turn = () => convert(source, { format: 'pdf', options: '--landscape', time: LONG });

      const outcome = () =>
        turn().then(
          () => 'converted',
          ({ code }) => code,
        );

      await expect.poll(outcome, { timeout: 60_000, interval: 1000 }).toBe('converted');
    },
    LONG,
  );
});
