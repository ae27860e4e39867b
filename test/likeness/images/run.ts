import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import type { Format } from '../../../functions/shared/formats.ts';
import { readOptions } from '../../../functions/shared/options/read-options.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import { CODE } from '../../../infra/local/server/temporary.ts';
import { engineNetwork } from '../../helpers/engine-network.ts';
import type { ImageCase } from './cases.ts';
import { ALIKE, type Comparison, compareImages } from './compare.ts';
import { convertWithImageMagick, toArguments } from './reference.ts';

/** The result of one option set with one image. */
export interface Trial extends Partial<Comparison> {
  readonly options: string;
  readonly source: string;
  readonly verdict: 'same' | 'differs' | 'failed';
  /** The error of one side. */
  readonly error?: string;
}

/** Converts images with our engine, without a server around it. */
export async function startConverter() {
  const home = await mkdtemp(join(tmpdir(), 'docmill-likeness-'));
  const engine = createEngine({
    layers: resolve('dist/layers'),
    code: CODE,
    temporary: home,
    size: 2,
    ...engineNetwork(),
  });

  let tries = 0;

  async function convert(source: string, options: string, format: Format): Promise<Buffer> {
    const directory = await mkdtemp(join(home, 'conversion-'));
    const path = join(directory, 'source');
    await writeFile(path, await readFile(source));
    const given = options
      .split(' ')
      .filter(Boolean)
      .map((option) => {
        const [name, value = ''] = option.split(/=(.*)/s) as [string, string?];
        return { name, value: value.replaceAll('_', ' ') };
      });
    const read = readOptions(imageproc, given, format);
    if (read.issues[0]) throw read.issues[0];
    const { outputs } = await engine.convert({
      source: { path, name: '', contentType: '', bytes: 0 },
      options: read.options as Parameters<typeof engine.convert>[0]['options'],
      format,
      delivery: 'one',
      directory,
      limits: CONVERSION_LIMITS,
      account: 'likeness',
      signal: AbortSignal.timeout(60_000),
    });
    const results: Buffer[] = [];
    for await (const output of outputs) results.push(await readFile(output.path));
    await rm(directory, { recursive: true });
    return results[0]!;
  }

  async function close() {
    await engine.close();
    await rm(home, { recursive: true, force: true });
  }

  /** Runs one option set on both sides. */
  async function tryCase({ options, theirs }: ImageCase, source: string): Promise<Trial> {
    tries += 1;
    const output = join(home, `theirs-${tries}.png`);
    const name = source.split('/').at(-1)!;
    const [ours, reference] = await Promise.allSettled([
      convert(source, options, 'png'),
      convertWithImageMagick(source, `PNG:${output}`, toArguments(theirs ?? options)).then(() =>
        readFile(output),
      ),
    ]);
    const failed = [ours, reference].find((result) => result.status === 'rejected');
    if (ours.status === 'rejected' && reference.status === 'rejected') {
      return { options, source: name, verdict: 'same', error: 'both fail' };
    }
    if (failed || ours.status === 'rejected' || reference.status === 'rejected') {
      const side = ours.status === 'rejected' ? 'ours' : 'ImageMagick';
      const error = `${side}: ${String(failed?.reason).split('\n')[0]!.slice(0, 200)}`;
      return { options, source: name, verdict: 'failed', error };
    }
    const comparison = await compareImages(ours.value, reference.value);
    const alike = comparison.sameSize && comparison.difference <= ALIKE;
    return { options, source: name, verdict: alike ? 'same' : 'differs', ...comparison };
  }

  return { convert, tryCase, close };
}
