import { execFile } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { copyFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { blankPdf } from '../../../functions/engines/pdf/rewrite.ts';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import type { Format } from '../../../functions/shared/formats.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';
import { CONVERSION_LIMITS, type Download } from '../../../functions/shared/tool.ts';
import { CODE } from '../../../infra/local/server/temporary.ts';
import { engineNetwork } from '../../helpers/engine-network.ts';
import { nameOf, type PdfCase } from './cases.ts';
import { commonWords, gray, similarityOf } from './similarity.ts';

const run = promisify(execFile);

/** Minimum structural similarity of two pages that look alike to a reader, and share of words of texts that read alike. */
export const ALIKE = 0.9;

/** The URL of `blank.pdf`, which is not downloaded. */
const BLANK = 'https://blank.invalid/';

/** Downloads an empty page. */
const download: Download = async (_, { directory }) => {
  const path = join(directory, 'blank.pdf');
  const bytes = blankPdf(1);
  await writeFile(path, bytes);
  return { path, name: 'blank.pdf', contentType: '', bytes: bytes.length };
};

export interface Trial {
  /** Of the case. */
  readonly name: string;
  readonly source: string;
  readonly verdict: 'same' | 'size' | 'look' | 'only ours' | 'only theirs' | 'neither';
  readonly ours?: string;
  readonly theirs?: string;
  /** From -1 to 1, of images with the same size; from 0 to 1 of texts. */
  readonly similarity?: number;
}

/** Converts with our engine and with poppler's programs. */
export async function startComparing() {
  const home = await mkdtemp(join(tmpdir(), 'docmill-likeness-'));
  const own = { layers: resolve('dist/layers'), code: CODE, temporary: home, size: 2 };
  const engine = createEngine({ ...own, ...engineNetwork(), download });

  async function convert(source: string, { options, format: other }: PdfCase): Promise<Buffer> {
    const format: Format = other ?? 'png';
    const directory = await mkdtemp(join(home, 'conversion-'));
    const path = join(directory, 'source');
    await copyFile(source, path);
    const given = options
      .split(' ')
      .filter(Boolean)
      .map((option) => {
        const [name, value = ''] = option.split('=') as [string, string?];
        return { name, value: value === 'blank.pdf' ? BLANK : value };
      });
    const read = readOptions(pdftools, given, format);
    if (read.issues[0]) throw read.issues[0];
    try {
      const { outputs } = await engine.convert({
        source: { path, name: '', contentType: '', bytes: 0 },
        options: read.options as Parameters<typeof engine.convert>[0]['options'],
        format,
        delivery: 'one',
        directory,
        limits: CONVERSION_LIMITS,
        account: 'likeness',
        signal: AbortSignal.timeout(40_000),
      });
      for await (const output of outputs) return await readFile(output.path);
      throw new Error('No output.');
    } finally {
      await rm(directory, { recursive: true });
    }
  }

  async function drawTheirs(source: string, args: readonly string[]): Promise<Buffer> {
    const target = join(home, `theirs-${randomUUID()}`);
    const pages = args.includes('-f') ? [] : ['-f', '1', '-l', '1'];
    await run('pdftoppm', ['-png', '-singlefile', ...pages, ...args, source, target], { timeout: 40_000 });
    return readFile(`${target}.png`);
  }

  async function readTheirs(source: string, args: readonly string[]): Promise<Buffer> {
    const { stdout } = await run('pdftotext', [...args, '-enc', 'UTF-8', source, '-'], {
      timeout: 40_000,
      maxBuffer: 2 ** 26,
      encoding: 'buffer',
    });
    return stdout;
  }

  /** Draws the first page of our PDF, as pdftoppm draws the page of the source. */
  async function drawOurPdf(source: string, each: PdfCase): Promise<Buffer> {
    const path = join(home, `ours-${randomUUID()}.pdf`);
    await writeFile(path, await convert(source, each));
    return drawTheirs(path, ['-r', '72', '-cropbox']);
  }

  async function tryCase(each: PdfCase, source: string): Promise<Trial> {
    const { theirs, mediaBox, format } = each;
    const [own, other] = await Promise.all([
      (format === 'pdf' ? drawOurPdf(source, each) : convert(source, each)).catch(() => undefined),
      (format === 'txt'
        ? readTheirs(source, theirs)
        : drawTheirs(source, mediaBox ? theirs : ['-cropbox', ...theirs])
      ).catch(() => undefined),
    ]);
    const trial = { name: nameOf(each), source: basename(source) };
    if (!own || !other) return { ...trial, verdict: own ? 'only ours' : other ? 'only theirs' : 'neither' };
    if (format === 'txt') {
      const similarity = commonWords(own.toString(), other.toString());
      return { ...trial, similarity, verdict: similarity >= ALIKE ? 'same' : 'look' };
    }
    const [a, b] = await Promise.all([gray(own), gray(other)]);
    const sizes = { ours: `${a.width}x${a.height}`, theirs: `${b.width}x${b.height}` };
    if (sizes.ours !== sizes.theirs) return { ...trial, ...sizes, verdict: 'size' };
    const similarity = similarityOf(a, b);
    return { ...trial, ...sizes, similarity, verdict: similarity >= ALIKE ? 'same' : 'look' };
  }

  async function close() {
    await engine.close();
    await rm(home, { recursive: true, force: true });
  }

  return { tryCase, close };
}

/** Returns whether poppler's programs are installed. */
export async function hasPoppler(): Promise<boolean> {
  return run('pdftoppm', ['-v']).then(
    () => true,
    () => false,
  );
}
