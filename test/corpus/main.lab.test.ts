import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { quarters } from '../fixtures/image.ts';
import { makePdf, numberedPages } from '../fixtures/pdf.ts';

const OFFICE = join(import.meta.dirname, '../fixtures/office');

let folder: string;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'corpus-'));
  await mkdir(join(folder, 'deep er/ünd'), { recursive: true });
  await writeFile(join(folder, 'pages.pdf'), makePdf(numberedPages(2)));
  await writeFile(join(folder, 'nothing.pdf'), makePdf([{}]));
  await writeFile(join(folder, 'broken.pdf'), '%PDF-1.7\nnothing more');
  await writeFile(join(folder, 'page.html'), '<h1>Grüße</h1>');
  await writeFile(join(folder, 'deep er/ünd/a #1?.PNG'), await quarters(40, 30).png().toBuffer());
  await writeFile(join(folder, 'notes.md'), 'not ours');
  await copyFile(join(OFFICE, 'text.rtf'), join(folder, 'text.rtf'));
  await copyFile(join(OFFICE, 'locked.docx'), join(folder, 'locked.docx'));
});
afterAll(() => rm(folder, { recursive: true }));

function run(...args: string[]): Promise<{ code: number; output: string }> {
  const script = join(import.meta.dirname, 'main.ts');
  return new Promise((resolve) => {
    execFile(process.execPath, [script, ...args], (error, output) => {
      resolve({ code: error ? Number(error.code) : 0, output });
    });
  });
}

async function label(rows: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(rows).map(([name, expected]) => `${name}\t${expected}\tours\n`);
  await writeFile(join(folder, 'manifest.tsv'), `file\texpect\torigin\n${lines.join('')}`);
}

describe('a run over a folder', () => {
  it('succeeds if every file has the expected outcome', async () => {
    const ledger = join(folder, 'ledger');
    await label({
      'pages.pdf': 'converts',
      'broken.pdf': 'error',
      'locked.docx': 'error',
      'text.rtf': 'converts',
    });

    const { code, output } = await run(folder, '--jobs', '2', '--ledger', ledger);

    expect(output).toMatch(/^pdftools +3 +2 +CORRUPT_SOURCE 1 +0 /m);
    expect(output).toMatch(/^doc2any +2 +1 +PASSWORD_REQUIRED 1 +0 /m);
    for (const tool of ['html2pdf', 'html2image', 'imageproc'])
      expect(output).toMatch(new RegExp(`^${tool} +1 +1 +– +0 `, 'm'));
    expect(output).toContain('NOTE pdftools nothing.pdf: blank, as its source');
    expect(output).not.toMatch(/MISS|ORPHAN/);
    expect(code).toBe(0);
    const rows = readFileSync(ledger, 'utf8').trim().split('\n');
    expect(rows).toHaveLength(9);
  });

  it('lists each file with an unexpected outcome, and fails', async () => {
    await label({ 'pages.pdf': 'error', 'broken.pdf': 'converts' });

    const { code, output } = await run(folder, '--ledger', join(folder, 'ledger'));

    expect(output).toMatch(/^MISS pdftools pages\.pdf \(\d+ ms\): converted, an error was expected$/m);
    expect(output).toMatch(/^MISS pdftools broken\.pdf \(\d+ ms\): CORRUPT_SOURCE: /m);
    expect(output.match(/^MISS /gm)).toHaveLength(2);
    expect(code).toBe(1);
  });

  it('continues an interrupted run', async () => {
    const ledger = join(folder, 'broken-off');
    await rm(join(folder, 'manifest.tsv'), { force: true });
    await run(folder, '--ledger', ledger);
    const rows = (await readFile(ledger, 'utf8')).trim().split('\n').slice(0, -1);
    const other = rows.map((row) => row.replace(/"milliseconds":\d+/, '"milliseconds":123456'));
    await writeFile(ledger, `${other.join('\n')}\n`);

    const { code, output } = await run(folder, '--ledger', ledger);

    expect(output.match(/123456/g)!.length).toBeGreaterThanOrEqual(5);
    expect(code).toBe(0);
  });

  it.each([[[]], [['/nowhere']], [['.', '--jobs', '0']]])('prints its usage for %j', async (args) => {
    expect((await run(...args)).code).toBe(2);
  });
});
