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
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join, relative } from 'node:path';
import sharp from 'sharp';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import * as tools from '../../../functions/tools.ts';
import { readCommand, UsageError } from '../../../infra/convert/command.ts';
import { findInputs } from '../../../infra/convert/inputs.ts';
import { pathOf, planJobs } from '../../../infra/convert/jobs.ts';
import { makePdf, numberedPages } from '../../fixtures/pdf.ts';
import { readPdf } from '../../helpers/pdf.ts';
import { COMPILE_CACHE } from '../../helpers/processes.ts';
import { openService, ownService } from '../../lab/service.ts';
import { signalAfter } from './signal-after.ts';

const ROOT = join(import.meta.dirname, '../../..');
const MAIN = join(ROOT, 'infra/convert/main.ts');
const ALL = Object.values(tools);
const LETTER = join(ROOT, 'test/fixtures/office/text.docx');

const COUNT = 24;
const INPUTS = Array.from({ length: COUNT }, (_, index) => `${10 + index}.png`);

let directory: string;
let temporary: string;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'convert-'));
  temporary = join(directory, 'tmp');
  mkdirSync(temporary);
  copyFileSync(LETTER, path('letter.docx'));
  writeFileSync(path('report.pdf'), makePdf(numberedPages(3)));
  mkdirSync(path('many'));
  // Each picture is as wide as its name says.
  for (const name of INPUTS) writeFileSync(path('many', name), await picture(Number.parseInt(name, 10)));
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const path = (...names: string[]) => join(directory, ...names);
const picture = (width: number) =>
  sharp({ create: { width, height: 30, channels: 3, background: 'red' } })
    .png()
    .toBuffer();
const widthOf = async (...names: string[]) => (await sharp(path(...names)).metadata()).width;

function start(args: readonly string[], { input, node = [] }: { input?: Buffer; node?: string[] } = {}) {
  const env = { PATH: process.env.PATH, TMPDIR: temporary, ...COMPILE_CACHE };
  const child = spawn(process.execPath, [...node, MAIN, ...args], { cwd: directory, env });
  const texts = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (texts[name] += text));
  child.stdin.on('error', () => {}).end(input);
  return once(child, 'close').then(([code]) => ({ code: code as number | null, ...texts }));
}

const convert = (...args: string[]) => start(args);

/** Returns what the command would convert. */
async function plan(args: readonly string[]) {
  const command = readCommand(args, ALL);
  return planJobs(command, await findInputs(command.inputs, command.list), ALL);
}

const names = (...folder: string[]) =>
  readdirSync(path(...folder), { recursive: true })
    .map(String)
    .sort();

describe('docmill', () => {
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

  it('never replaces an input, under whatever name, unless told to', async () => {
    mkdirSync(path('kept'));
    for (const name of ['kept/a.png', 'kept/page-1.png']) writeFileSync(path(name), await picture(10));
    symlinkSync('a.png', path('kept/link.png'));
    const refusals = await Promise.all(
      [
        ['kept/a.png', '--to', 'kept/a.png'],
        ['kept/a.png', '--to', 'kept/link.png'],
        ['kept', '--to', 'kept/', '--format', 'png'],
        ['kept/page-1.png', '--to', 'kept/page-%d.png'],
        ['kept/page-1.png', '-composite', 'kept/a.png', '--to', 'kept/a.png'],
      ].map((args) => plan(args.map((arg) => (arg.startsWith('kept') ? path(arg) : arg))).catch(String)),
    );

    for (const refusal of refusals) expect(refusal).toMatch(/would replace the input .* Add --overwrite/);
    expect(await plan([path('kept/a.png'), '--to', path('kept/a.png'), '--overwrite'])).toHaveLength(1);
  });

  it('merges its inputs into one PDF, with the files that options name', async () => {
    const { code, stderr } = await convert(
      'report.pdf',
      'letter.docx',
      'report.pdf',
      '--to',
      'all.pdf',
      '-append',
      'many/10.png',
    );
    const { pages } = await readPdf(readFileSync(path('all.pdf')));

    expect([code, stderr, pages.length, pages.at(-1)!.text]).toEqual([0, '', 10, '']);
  });

  it('names the file that cannot be merged, and what a damaged one lacks', async () => {
    writeFileSync(path('none.pdf'), '');
    const photo = await sharp(await picture(300))
      .jpeg()
      .toBuffer();
    writeFileSync(path('half.jpg'), photo.subarray(0, photo.length - 2));

    const failed = await convert('report.pdf', 'letter.docx', 'none.pdf', '--to', 'both.pdf');
    const warned = await convert('report.pdf', 'half.jpg', '--to', 'both.pdf');

    expect(failed.stderr).toMatch(/^none\.pdf: CORRUPT_SOURCE .* The source is empty\.\n$/);
    expect(warned.stderr).toMatch(/^report\.pdf: half\.jpg: The image is damaged\./);
  });

  it('writes to standard output, and files with the usual mode', async () => {
    const { stdout, stderr, code } = await start(['-', '--to', '-', '--format', 'txt'], {
      input: Buffer.from('Hello <b>all</b>'),
    });

    expect([stdout, code]).toEqual([expect.stringMatching(/^\ufeff?Hello/), 0]);
    expect(stderr).toMatch(/^1 converted, 0 failed in [\d.]+ s\n$/);
    expect(statSync(path('letter.pdf')).mode & 0o777).toBe(0o666 & ~process.umask());
  });

  it('finds inputs by globs, in directories and in lists, and keeps their folders', async () => {
    mkdirSync(path('mixed/deep/er'), { recursive: true });
    for (const name of ['mixed/a.png', 'mixed/deep/b.png', 'mixed/deep/er/a (1).png'])
      writeFileSync(path(name), await picture(40));
    writeFileSync(path('list.txt'), `${path('report.pdf')}\n\n${path('mixed/a.png')}\n`);
    const plannedFor = async (...args: string[]) =>
      (await plan([...args, '--to', 'to/', '--format', 'jpg'])).map((job) => relative('.', pathOf(job)));

    expect(await plannedFor(path('mixed/**/*.png'))).toEqual([
      'to/a.jpg',
      'to/deep/b.jpg',
      'to/deep/er/a (1).jpg',
    ]);
    expect(await plannedFor(path('mixed'))).toEqual(['to/a.jpg', 'to/deep/b.jpg', 'to/deep/er/a (1).jpg']);
    expect(await plannedFor('--list', path('list.txt'))).toEqual(['to/report.jpg', 'to/a.jpg']);
  });

  it('converts a folder with options, and a document to one file per page', async () => {
    const folder = await convert('mixed', '--to', 'found/', '--format', 'jpg', '-resize', '20x');
    const pages = await convert('report.pdf', '--to', 'page-%d.png', '-r', '20', '-l', '2');

    for (const { code, stderr } of [folder, pages]) expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    expect(names('found')).toContain('deep/er/a (1).jpg');
    expect(await widthOf('found/deep/er/a (1).jpg')).toBe(20);
    expect(names().filter((name) => /^page-/.test(name))).toEqual(['page-1.png', 'page-2.png']);
  });

  it('converts standard input again if it has other content', async () => {
    const args = ['-', '--to', 'piped/', '--format', 'jpg'];

    const runs = [];
    for (const width of [1, 1, 2]) runs.push((await start(args, { input: await picture(width) })).stdout);

    expect(runs.map((stdout) => /1 skipped/.test(stdout))).toEqual([false, true, false]);
  });

  it('keeps inputs apart whose results would have the same name', async () => {
    mkdirSync(path('same'));
    writeFileSync(path('same/a.png'), await picture(1));
    writeFileSync(path('same/a.pdf'), makePdf(numberedPages(1)));

    expect((await convert('same', '--to', 'apart/', '--format', 'jpg')).code).toBe(0);

    expect(names('apart')).toEqual(['.docmill.jsonl', 'a.pdf.jpg', 'a.png.jpg']);
  });

  it('reads no pattern in the names of inputs', async () => {
    mkdirSync(path('patterns'));
    const stems = ['a-%d', 'a-1', 'a-2', 'b*', 'bc', 'c[1]', 'c1', '%03d', '{a,b}', 'p.png', '$&', 'd?', '%'];
    for (const stem of stems) writeFileSync(path('patterns', `${stem}.pdf`), makePdf(numberedPages(2)));

    const folder = await convert('patterns', '--to', 'literal/', '--format', 'png', '-r', '10');
    const zips = await plan([path('patterns'), '--to', 'zips/', '--format', 'zip', '-attachments']);
    const pages = await convert('patterns/a-1.pdf', '--to', 'literal/%d-%d/page-%d.png', '-r', '10');
    mkdirSync(path('literal/%d'));
    const inFolder = await convert('patterns/a-1.pdf', '--to', 'literal/%d/p%02d.png', '-r', '10');

    expect(folder.stdout).toMatch(new RegExp(`^${stems.length} converted, 0 failed`));
    const results = names('literal').filter((name) => name.endsWith('.png'));
    expect(results).toEqual([...stems.map((stem) => `${stem}.png`), '%d/p01.png', '%d/p02.png'].sort());
    expect(new Set(zips.map(({ query }) => query[1]!.value))).toEqual(new Set(['result.zip']));
    expect([pages.code, inFolder.code]).toEqual([2, 0]);
  });

  it('never replaces the result of another input, unless told to', async () => {
    for (const folder of ['one', 'two', 'two/deep']) mkdirSync(path(folder));
    for (const [index, name] of ['one/a.png', 'two/a.png'].entries())
      writeFileSync(path(name), await picture(10 + index));
    const run = (...args: string[]) => convert(...args, '--to', 'shared/', '--format', 'jpg');

    const first = await run('one');
    const refused = await run('two');
    const numbered = await run('two', '--format=%d.jpg');
    const kept = await widthOf('shared/a.jpg');
    const told = await run('two', '--overwrite');

    expect([first.code, refused.code, told.code]).toEqual([0, 2, 0]);
    expect(refused.stderr).toMatch(/The result '.*a\.jpg' would replace that of '.*one\/a\.png'/);
    expect(numbered.code).toBe(2);
    expect([kept, await widthOf('shared/a.jpg')]).toEqual([10, 11]);
  });

  it('writes temporary files that nobody else can read or redirect', async () => {
    mkdirSync(path('hostile'));
    writeFileSync(path('victim'), 'untouched');
    symlinkSync('../victim', path('hostile/.out.txt.part'));
    const preload = path('modes.mjs');
    // Reports the mode of a complete file and of its folder, before the command changes or deletes it.
    writeFileSync(
      preload,
      `import fs, { promises } from 'node:fs'; import { syncBuiltinESMExports } from 'node:module';
      const { chmod, rm } = promises;
      const report = (path) => fs.writeSync(2, ['mode', fs.lstatSync(path).mode & 0o777, path].join(' ') + '\\n');
      promises.chmod = async (path, mode) => { report(path); await chmod(path, mode); };
      promises.rm = async (path, options) => {
        if (/docmill-\\w{6}$/.test(path)) for (const name of ['', ...fs.readdirSync(path)]) report(path + '/' + name);
        await rm(path, options); };
      syncBuiltinESMExports();`,
    );
    const node = ['--import', preload];

    const file = await start(['letter.docx', '--to', 'hostile/out.txt'], { node });
    const printed = await start(['letter.docx', '--to', '-', '--format', 'txt'], { node });

    expect(file.stderr).toMatch(/^mode 384 .*hostile\/\.out\.txt\.part$/m);
    expect(printed.stderr).toMatch(/^mode 448 .*docmill-\w{6}\/\nmode 384 .*docmill-\w{6}\/.+$/m);
    expect(readFileSync(path('victim'), 'utf8')).toBe('untouched');
    expect(names('hostile')).toEqual(['out.txt']);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('prints no control characters of names', async () => {
    mkdirSync(path('named'));
    const name = 'a\x1b[31m\x9b2J\u202e\nb.docx';
    writeFileSync(path('named', name), '');

    const failed = await convert('named', '--to', 'printed/', '--format', 'pdf', '--jobs', '1');
    const missing = await convert(`${name}x`, '--to', 'a.pdf');

    for (const { stderr } of [failed, missing]) {
      expect(stderr).toContain('a\ufffd[31m\ufffd2J\ufffd\ufffdb.docx');
      expect(stderr).toMatch(/^([\p{L}\p{M}\p{N}\p{P}\p{S} ]*\n)+$/u);
    }
  });

  it('continues after it was killed: each of many files once, and none lost', async () => {
    const args = ['many', '--to', 'done/', '--format', 'jpg', '--jobs', '2'];
    const ledger = path('done/.docmill.jsonl');
    const rows = () => (existsSync(ledger) ? readFileSync(ledger, 'utf8').trim().split('\n') : []);

    for (const count of [5, 12]) {
      const { code } = await start(args, { node: signalAfter(count, ledger, 'SIGKILL') });
      expect(code).toBe(null);
      expect(rows().length).toBeLessThan(COUNT);
    }
    const before = rows().length;
    const last = await convert(...args);

    expect(before).toBeGreaterThanOrEqual(12);
    expect(last.stderr).toBe('');
    expect(last.code).toBe(0);
    expect(last.stdout).toContain(`${COUNT - before} converted, 0 failed, ${before} skipped`);
    const done = rows().map((row) => JSON.parse(row) as { input: string });
    expect(done.map(({ input }) => basename(input)).sort()).toEqual(INPUTS.toSorted());
    const results = INPUTS.map((name) => name.replace('png', 'jpg'));
    expect(names('done')).toEqual(['.docmill.jsonl', ...results].sort());
    for (const name of results) expect(await widthOf('done', name)).toBe(Number.parseInt(name, 10));
    expect(readdirSync(temporary)).toEqual([]);
  });

  it('converts a file again when it or an option has changed, and never a result', async () => {
    mkdirSync(path('own'));
    writeFileSync(path('own/a.png'), await picture(1));
    const args = ['own', '--to', 'own', '--format', 'jpg'];

    const runs = [await convert(...args), await convert(...args)];
    writeFileSync(path('own/a.png'), await picture(200));
    runs.push(
      await convert(...args),
      await convert(...args, '-rotate', '90'),
      await convert(...args, '--fresh', '-rotate', '90'),
    );

    expect(runs.map(({ stdout }) => stdout.replace(/ in .*\n/, ''))).toEqual([
      '1 converted, 0 failed',
      '0 converted, 0 failed, 1 skipped',
      ...Array(3).fill('1 converted, 0 failed'),
    ]);
    expect(await widthOf('own/a.jpg')).toBe(30);
  });

  it('names each failure with its code, converts the others, and tries again what failed', async () => {
    mkdirSync(path('wrong'));
    writeFileSync(path('wrong/noise.docx'), Buffer.from([0, 1, 2, 3, 200, 201]));
    writeFileSync(path('wrong/empty.docx'), '');
    writeFileSync(path('wrong/good.png'), await picture(1));
    const args = ['wrong', '--to', 'right', '--format', 'jpg'];

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
    [['letter.docx', '--to', 'new'], "--to 'new' has no extension. For a directory, add a --format."],
    [
      ['letter.docx', '--to', 'a.xyz'],
      "The name of a result must end with the extension of an output format, got 'a.xyz'.",
    ],
    [['report.pdf', '--to', 'a.pdf', '-stamp', 'no.pdf'], "There is no file 'no.pdf' for -stamp."],
    [
      ['letter.docx', '--to', 'a/', '--format', 'pdf', '--landscpe'],
      "Unknown option '--landscpe'. Did you mean '--landscape'?",
    ],
    [
      ['letter.docx', '--to', 'a.pdf', '-f', 'x'],
      "Parameter '-f' must be an integer from 0 to 100000, got 'x'.",
    ],
    [
      ['letter.docx', 'report.pdf', '--to', 'a.png'],
      "2 inputs need a directory, unless the result is one PDF. Write --to 'a.png/' and a --format.",
    ],
  ])('rejects %j before anything is converted', async (args, message) => {
    const given = args.map((arg) => (/^(letter|report)/.test(arg) ? path(arg) : arg));

    await expect(plan(given)).rejects.toThrow(new UsageError(message));
  });

  it('prints a mistake, and how to get help', async () => {
    const message = "There is no file 'missing.docx'.\nRun 'docmill --help' for usage.\n";

    expect(await convert('missing.docx', '--to', 'a.pdf')).toEqual({ code: 2, stdout: '', stderr: message });
    expect(names()).not.toContain('a.pdf');
  });

  it('stops when it is interrupted', async () => {
    const node = signalAfter(1, path('interrupted/.docmill.jsonl'), 'SIGINT');

    const ended = await start(['many', '--to', 'interrupted/', '--format', 'jpg', '--jobs', '1'], { node });

    expect(ended).toEqual({
      code: 130,
      stdout: expect.stringMatching(/^Interrupted: \d+ converted, 0 failed in/),
      stderr: 'Run the command again to convert the rest.\n',
    });
    expect(names('interrupted').filter((name) => name.endsWith('.part'))).toEqual([]);
    expect(readdirSync(temporary)).toEqual([]);
  });

  it.runIf(ownService)('uses a service with a URL and a key', async () => {
    const { base, apiKey, close } = await openService({ sources: [] });
    const args = ['many/10.png', 'report.pdf', '--to', 'remote/', '--format', 'jpg', '--url', base];

    const refused = await convert(...args, '--key', 'wrong');
    const { code, stdout } = await convert(...args, '--key', apiKey);
    await close();
    // Another server may have taken the port.
    const nowhere = args.with(-1, 'http://127.0.0.1:3');
    const unreachable = await convert(...nowhere, '--fresh', '--key', apiKey);

    expect({ code: refused.code, lines: refused.stderr.split('\n') }).toMatchObject({
      code: 1,
      lines: [expect.stringContaining('Provide a valid API key.'), ''],
    });
    expect(code).toBe(0);
    expect(stdout).toMatch(/^2 converted/);
    expect(names('remote')).toEqual(['.docmill.jsonl', '10.jpg', 'report.jpg']);
    expect(unreachable).toMatchObject({ code: 1, stderr: expect.stringContaining('did not respond') });
  });
});
