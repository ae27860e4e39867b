import { execFile } from 'node:child_process';
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { promisify } from 'node:util';
import sharp from 'sharp';
import { createEngine } from '../../../functions/pdftools/convert.ts';
import { pdftools } from '../../../functions/pdftools/tool.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';
import { LIMITS } from '../../../functions/shared/tool.ts';
import { CODE } from '../../../infra/local/server/code.ts';
import type { PdfCase } from './cases.ts';

const run = promisify(execFile);

/** Minimum structural similarity of two pages that look alike to a reader. */
export const ALIKE = 0.9;

export interface Trial {
  readonly options: string;
  readonly source: string;
  readonly verdict: 'same' | 'size' | 'look' | 'only ours' | 'only theirs' | 'neither';
  readonly ours?: string;
  readonly theirs?: string;
  /** From -1 to 1, of images with the same size. */
  readonly similarity?: number;
}

/** Draws pages with our engine and with pdftoppm. */
export async function startDrawing() {
  const home = await mkdtemp(join(tmpdir(), 'docmill-likeness-'));
  const engine = createEngine({ layers: resolve('dist/layers'), code: CODE, temporary: home, size: 2 });

  async function draw(source: string, options: string): Promise<Buffer> {
    const directory = await mkdtemp(join(home, 'conversion-'));
    const path = join(directory, 'source');
    await copyFile(source, path);
    const given = options
      .split(' ')
      .filter(Boolean)
      .map((option) => {
        const [name, value = ''] = option.split('=') as [string, string?];
        return { name, value };
      });
    const read = readOptions(pdftools, given, 'png');
    if (read.issues[0]) throw read.issues[0];
    try {
      const { outputs } = await engine.convert({
        source: { path, name: '', contentType: '', bytes: 0 },
        options: read.options as Parameters<typeof engine.convert>[0]['options'],
        ...{ format: 'png', delivery: 'one', directory, limits: LIMITS, tenant: 'likeness' },
        signal: AbortSignal.timeout(40_000),
      });
      for await (const output of outputs) return await readFile(output.path);
      throw new Error('No output.');
    } finally {
      await rm(directory, { recursive: true });
    }
  }

  async function drawTheirs(source: string, args: readonly string[]): Promise<Buffer> {
    const target = join(home, 'theirs');
    await rm(`${target}.png`, { force: true });
    const pages = args.includes('-f') ? [] : ['-f', '1', '-l', '1'];
    await run('pdftoppm', ['-png', '-singlefile', ...pages, ...args, source, target], { timeout: 40_000 });
    return readFile(`${target}.png`);
  }

  async function tryCase({ options, theirs, mediaBox }: PdfCase, source: string): Promise<Trial> {
    const [own, other] = await Promise.all([
      draw(source, options).catch(() => undefined),
      drawTheirs(source, mediaBox ? theirs : ['-cropbox', ...theirs]).catch(() => undefined),
    ]);
    const trial = { options, source: basename(source) };
    if (!own || !other) return { ...trial, verdict: own ? 'only ours' : other ? 'only theirs' : 'neither' };
    const [a, b] = await Promise.all([grey(own), grey(other)]);
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

interface Grey {
  readonly data: Buffer;
  readonly width: number;
  readonly height: number;
}

/** Slightly blurred, because readers do not notice a shift by part of a pixel. */
async function grey(image: Buffer): Promise<Grey> {
  const { data, info } = await sharp(image)
    .flatten({ background: '#fff' })
    .toColourspace('b-w')
    .blur(1)
    .raw()
    .toBuffer({ resolveWithObject: true });
  return { data, width: info.width, height: info.height };
}

/** Mean structural similarity (Wang and others, 2004) over windows of 8x8 pixels. */
function similarityOf(one: Grey, other: Grey): number {
  const side = Math.min(8, one.width, one.height);
  const [c1, c2] = [(0.01 * 255) ** 2, (0.03 * 255) ** 2];
  let total = 0;
  let windows = 0;
  for (let top = 0; top + side <= one.height; top += side) {
    for (let left = 0; left + side <= one.width; left += side) {
      let [a, b, aa, bb, ab] = [0, 0, 0, 0, 0];
      for (let y = top; y < top + side; y += 1) {
        for (let x = left; x < left + side; x += 1) {
          const p = one.data[y * one.width + x]!;
          const q = other.data[y * one.width + x]!;
          a += p;
          b += q;
          aa += p * p;
          bb += q * q;
          ab += p * q;
        }
      }
      const n = side * side;
      const [ma, mb] = [a / n, b / n];
      const [va, vb, cov] = [aa / n - ma * ma, bb / n - mb * mb, ab / n - ma * mb];
      total += ((2 * ma * mb + c1) * (2 * cov + c2)) / ((ma * ma + mb * mb + c1) * (va + vb + c2));
      windows += 1;
    }
  }
  return total / windows;
}
