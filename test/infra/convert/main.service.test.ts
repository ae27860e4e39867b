import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makePdf, numberedPages } from '../../fixtures/pdf.ts';
import { COMPILE_CACHE } from '../../helpers/compile-cache.ts';
import { readPdf } from '../../helpers/pdf.ts';
import { openService, ownService } from '../../service/server/service.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MAIN = join(ROOT, 'infra/convert/main.ts');
const LETTER = join(ROOT, 'test/fixtures/office/text.docx');

const INPUTS = Array.from(
  { length: 64 },
  (_, index) => `file-${index + 1}.${index % 16 === 0 ? 'html' : 'txt'}`,
);

let directory: string;
let temporary: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'convert-'));
  temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  copyFileSync(LETTER, path('letter.docx'));
  writeFileSync(path('report.pdf'), makePdf(numberedPages(3)));
  mkdirSync(path('many'));
  for (const name of INPUTS) writeFileSync(path('many', name), `This is ${name}`);
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const path = (...names: string[]) => join(directory, ...names);

function start(args: readonly string[], { input, node = [] }: { input?: Buffer; node?: string[] } = {}) {
  const env = { PATH: process.env.PATH, TMPDIR: temporary, ...COMPILE_CACHE };
  const child = spawn(process.execPath, [...node, MAIN, ...args], { cwd: directory, env });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text));
  child.stdin.on('error', () => {}).end(input);
  return once(child, 'close').then(([code]) => ({ code: code as number | null, ...texts }));
}

/** Returns options of Node that send the command a signal once its ledger has rows: from outside, it could come too late. */
function signalAfter(rows: number, ledger: string, signal: NodeJS.Signals): string[] {
  const script = `import { existsSync, readFileSync } from 'node:fs';
    const ledger = ${JSON.stringify(ledger)};
    const timer = setInterval(() => {
      if (!existsSync(ledger) || readFileSync(ledger, 'utf8').split('\\n').length <= ${rows}) return;
      clearInterval(timer);
      process.kill(process.pid, '${signal}');
    }, 1).unref();`;
  return ['--import', `data:text/javascript,${encodeURIComponent(script)}`];
}

const convert = (...args: string[]) => start(args);
const names = (...folder: string[]) =>
  readdirSync(path(...folder), { recursive: true })
    .map(String)
    .sort();

describe('npm run convert', () => {
  it('converts a file, and leaves nothing else', async () => {
    expect(await convert('letter.docx', '--to', 'letter.pdf')).toEqual({
      code: 0,
      stdout: expect.stringMatching(/^1 converted, 0 failed in [\d.]+ s\n$/),
      stderr: '',
    });
    expect((await readPdf(readFileSync(path('letter.pdf')))).pages).toHaveLength(3);
    expect(readdirSync(temporary)).toEqual([]);
    expect(names().filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('converts globs, directories and lists with options, one file per page, and standard input', async () => {
    mkdirSync(path('mixed/deep/er'), { recursive: true });
    const picture = await sharp({ create: { width: 40, height: 30, channels: 3, background: 'red' } })
      .png()
      .toBuffer();
    for (const name of ['mixed/a.png', 'mixed/deep/b.png', 'mixed/deep/er/a (1).png'])
      writeFileSync(path(name), picture);
    writeFileSync(path('list.txt'), `${path('letter.docx')}\n\nmixed/a.png\n`);

    const found = await convert('mixed/**/*.png', '--to', 'found/', '--format', 'jpg', '-resize', '20x');
    const folder = await convert('mixed', '--to', 'folder/', '--format', 'webp');
    const listed = await convert('--list', 'list.txt', '--to', 'listed/', '--format', 'jpg');
    const pages = await convert('report.pdf', '--to', 'page-%d.png', '-r', '20', '-l', '2');
    const piped = await start(['-', '--to', 'piped.jpg'], { input: picture });

    for (const { code, stderr } of [found, folder, listed, pages, piped])
      expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(names('found')).toEqual([
      '.docmill.jsonl',
      'a.jpg',
      'deep',
      'deep/b.jpg',
      'deep/er',
      'deep/er/a (1).jpg',
    ]);
    expect((await sharp(path('found/deep/er/a (1).jpg')).metadata()).width).toBe(20);
    expect(names('folder')).toContain('deep/er/a (1).webp');
    expect(names('listed')).toEqual(['.docmill.jsonl', 'a.jpg', 'letter.jpg']);
    expect(names().filter((name) => /^page-/.test(name))).toEqual(['page-1.png', 'page-2.png']);
    expect((await sharp(path('piped.jpg')).metadata()).format).toBe('jpeg');
  });

  it('converts standard input again if it has other content', async () => {
    const args = ['-', '--to', 'piped/', '--format', 'pdf'];

    const runs = [];
    for (const text of ['one', 'one', 'two'])
      runs.push((await start(args, { input: Buffer.from(text) })).stdout);

    expect(runs.map((stdout) => /1 skipped/.test(stdout))).toEqual([false, true, false]);
  });

  it('keeps inputs apart whose results would have the same name', async () => {
    mkdirSync(path('same'));
    writeFileSync(path('same/a.txt'), 'text');
    writeFileSync(path('same/a.csv'), 'table');

    expect((await convert('same', '--to', 'apart/', '--format', 'pdf')).code).toBe(0);

    expect(names('apart')).toEqual(['.docmill.jsonl', 'a.csv.pdf', 'a.txt.pdf']);
  });

  it('continues after it was killed: each of 64 files once, and none lost', async () => {
    const args = ['many', '--to', 'done/', '--format', 'pdf', '--jobs', '2'];
    const ledger = path('done/.docmill.jsonl');
    const rows = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []);

    for (const count of [15, 40]) {
      const { code } = await start(args, { node: signalAfter(count, ledger, 'SIGKILL') });
      expect(code).toBe(null);
      expect(rows().length).toBeLessThan(64);
    }
    const before = rows().length;
    const last = await convert(...args);

    expect(before).toBeGreaterThanOrEqual(40);
    expect(last.stderr).toBe('');
    expect(last.code).toBe(0);
    expect(last.stdout).toContain(`${64 - before} converted, 0 failed, ${before} skipped`);
    const done = rows().map((row) => JSON.parse(row) as { input: string });
    expect(done.map(({ input }) => basename(input)).sort()).toEqual(INPUTS.toSorted());
    expect(names('done')).toEqual(
      ['.docmill.jsonl', ...INPUTS.map((name) => name.replace(/\w+$/, 'pdf'))].sort(),
    );
    for (const name of INPUTS) {
      const { pages } = await readPdf(readFileSync(path('done', name.replace(/\w+$/, 'pdf'))));
      expect(pages[0]!.text).toContain(`This is ${name}`);
    }
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('converts a file again when it or an option has changed, and never a result', async () => {
    mkdirSync(path('own'));
    writeFileSync(path('own/a.html'), 'one');
    const args = ['own', '--to', 'own', '--format', 'pdf'];

    const runs = [await convert(...args), await convert(...args)];
    writeFileSync(path('own/a.html'), 'two!');
    runs.push(
      await convert(...args),
      await convert(...args, '--page-size', 'A5'),
      await convert(...args, '--fresh', '--page-size', 'A5'),
    );

    expect(runs.map(({ stdout }) => stdout.replace(/ in .*\n/, ''))).toEqual([
      '1 converted, 0 failed',
      '0 converted, 0 failed, 1 skipped',
      ...Array(3).fill('1 converted, 0 failed'),
    ]);
    expect((await readPdf(readFileSync(path('own/a.pdf')))).pages[0]!.text).toBe('two!');
  });

  it('names each failure with its code, converts the others, and tries again what failed', async () => {
    mkdirSync(path('wrong'));
    writeFileSync(path('wrong/noise.docx'), Buffer.from([0, 1, 2, 3, 200, 201]));
    writeFileSync(path('wrong/empty.docx'), '');
    writeFileSync(path('wrong/good.txt'), 'good');
    const args = ['wrong', '--to', 'right/', '--format', 'pdf'];

    const { code, stdout, stderr } = await convert(...args);
    writeFileSync(path('wrong/noise.docx'), readFileSync(LETTER));
    const second = await convert(...args);

    expect(code).toBe(1);
    expect(stdout).toMatch(/^1 converted, 2 failed in/);
    expect(stderr.trim().split('\n').sort()).toEqual([
      'wrong/empty.docx: CORRUPT_SOURCE The source is empty.',
      expect.stringMatching(/^wrong\/noise\.docx: UNSUPPORTED_SOURCE The source is not a document/),
    ]);
    expect(second.stdout).toMatch(/^1 converted, 1 failed, 1 skipped in/);
  });

  it.each([
    [['missing.docx', '--to', 'a.pdf'], "There is no file 'missing.docx'."],
    [
      ['letter.docx', '--to', 'a.xyz'],
      "The name of a result must end with the extension of an output format, got 'a.xyz'.",
    ],
    [
      ['letter.docx', '--to', 'a/', '--format', 'pdf', '--landscpe'],
      "Unknown option '--landscpe'. Did you mean '--landscape'?",
    ],
    [
      ['letter.docx', '--to', 'a.pdf', '-f', 'x'],
      "Parameter '-f' must be an integer from 0 to 100000, got 'x'.",
    ],
    [
      ['letter.docx', 'report.pdf', '--to', 'a.pdf'],
      "2 inputs need a directory. Write --to 'a.pdf/' and a --format.",
    ],
  ])('rejects %j before anything is converted', async (args, message) => {
    const { code, stdout, stderr } = await convert(...args);

    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toBe(`${message}\nRun 'npm run convert -- --help' for all options.\n`);
    expect(names()).not.toContain('a.pdf');
  });

  it('stops when it is interrupted', async () => {
    const node = signalAfter(1, path('interrupted/.docmill.jsonl'), 'SIGINT');

    const ended = await start(['many', '--to', 'interrupted/', '--format', 'pdf'], { node });

    expect(ended).toEqual({
      code: 130,
      stdout: expect.stringMatching(/^\d+ converted, 0 failed in/),
      stderr: '',
    });
    expect(names('interrupted').filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it.runIf(ownService)('uses a service with a URL and a key', async () => {
    const { base, apiKey, close } = await openService({ sources: [] });
    const args = ['letter.docx', 'report.pdf', '--to', 'remote/', '--format', 'jpg', '--url', base];

    const refused = await convert(...args, '--key', 'wrong');
    const { code, stdout } = await convert(...args, '--key', apiKey);
    await close();
    const unreachable = await convert(...args, '--fresh', '--key', apiKey);

    expect({ code: refused.code, lines: refused.stderr.split('\n') }).toMatchObject({
      code: 1,
      lines: [expect.stringContaining('Provide a valid API key.'), ''],
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^2 converted/);
    expect(names('remote')).toEqual(['.docmill.jsonl', 'letter.jpg', 'report.jpg']);
    expect(unreachable).toMatchObject({ code: 1, stderr: expect.stringContaining('did not respond') });
  });
});
