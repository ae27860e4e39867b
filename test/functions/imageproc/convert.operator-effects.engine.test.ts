import sharp from 'sharp';
import { expect, it } from 'vitest';
import { createEngine } from '../../../functions/imageproc/convert.ts';
import { OPERATORS } from '../../../functions/imageproc/options/operators.ts';
import type { Kind } from '../../../functions/imageproc/options/values.ts';
import { imageproc } from '../../../functions/imageproc/tool.ts';
import type { Parameter } from '../../../functions/shared/options/option.ts';
import { animation } from '../../fixtures/image.ts';
import { makePhoto } from '../../fixtures/photo.ts';
import { parametersOf } from '../../lab/engine.ts';
import { useEngine } from '../conversion.ts';
import { serveFiles } from '../serve-files.ts';

/** A sample where the example in the rule of an operator changes nothing: a value, what is before and after it, and the source. */
interface Sample {
  readonly value?: string;
  readonly before?: string;
  readonly after?: string;
  readonly source?: keyof typeof SOURCES;
  readonly format?: 'gif';
}

const SOURCES = {
  photo: await sharp(await makePhoto(60, 40, 1))
    .png()
    .toBuffer(),
  clear: await sharp({ create: { width: 60, height: 40, channels: 4, background: '#f008' } })
    .png()
    .toBuffer(),
  film: await animation(
    [
      [200, 0, 0],
      [0, 0, 200],
      [0, 160, 0],
    ],
    { width: 40, height: 30, format: 'gif' },
  ),
};
const urlOf = await serveFiles({ 'photo.png': SOURCES.photo });

const SAMPLES: Readonly<Partial<Record<keyof typeof OPERATORS, Sample>>> = {
  '-shave': { value: '5x5' },
  '-trim': { before: '-border=5' },
  '-repage': { after: '-flatten' },
  '+repage': { before: '-repage=100x100+10+10', after: '-flatten' },
  '-composite': { value: urlOf('photo.png'), source: 'clear' },
  '-append': { source: 'film' },
  '+append': { source: 'film' },
  '-auto-level': { before: '+level=20%,80%' },
  '-level-colors': { value: 'gray20,gray80' },
  '+level-colors': { value: 'gray20,gray80' },
  '-tint': { before: '-fill=red' },
  '-color-matrix': { value: '0 1 0 1 0 0 0 0 1' },
  '-opaque': { before: '-threshold=50% -fill=red' },
  '-transparent': { before: '-threshold=50%' },
  '-floodfill': { before: '-threshold=100% -fill=red', value: '+1+1 black' },
  '-flatten': { source: 'clear' },
  '-alpha': { source: 'clear' },
  '-coalesce': { before: '-repage=80x60+10+10', source: 'film' },
  '-layers': { value: 'merge', source: 'film' },
  '-reverse': { source: 'film' },
  '-smush': { source: 'film' },
  '+smush': { source: 'film' },
  '-swap': { source: 'film' },
  '-insert': { source: 'film' },
  '-delete': { value: '0', source: 'film' },
  '-duplicate': { source: 'film' },
  '-morph': { source: 'film' },
  '-evaluate-sequence': { value: 'Mean', source: 'film' },
  '-mosaic': { source: 'film' },
  '-channel': { after: '-negate' },
  '+channel': { before: '-channel=R', after: '-negate' },
  '-filter': { after: '-resize=20x' },
  '-interpolate': { after: '-interpolative-resize=90x' },
  '-virtual-pixel': { after: '-blur=0x3' },
  '-intensity': { after: '-threshold=50%' },
  '-attenuate': { after: '+noise=Gaussian' },
  '-seed': { value: '2', after: '+noise=Gaussian' },
  '-quantize': { after: '-colors=4' },
  '-treedepth': { value: '1', after: '-colors=200' },
  // An animation keeps its own number.
  '-loop': { value: '5', before: '-duplicate=1', format: 'gif' },
};

const { convertOne } = useEngine(imageproc, createEngine);

/** Returns the first word and the example in a rule, which completes "must be …". */
function exampleOf({ rule, words }: Kind): string {
  if (words === 'none' || words === 'optional') return '';
  if (rule.startsWith('degrees')) return '30';
  if (rule.startsWith('a percentage')) return '60%';
  const [, word] = /^one of (\w+)/.exec(rule) ?? [];
  const [, example] = /such as (.+?)(?:, with| or |, up to|, less|, none|, \S+ \S+|, 800|$)/.exec(rule) ?? [];
  const [, first] = /^a number from (\S+) to/.exec(rule) ?? [];
  return [word, example ?? (word === undefined ? first : undefined)].filter(Boolean).join(' ');
}

/** Returns what a viewer shows of an image. */
async function seenIn(bytes: Buffer): Promise<string> {
  const image = sharp(bytes, { animated: true });
  const { width, height, delay, loop, pages } = await image.metadata();
  const pixels = await image.ensureAlpha().raw().toBuffer();
  return JSON.stringify({ width, height, delay, loop, pages, pixels: pixels.toString('base64') });
}

/** Operators whose value is read, but that change nothing: not with any source, nor with any other operator. */
const INERT = ['-clamp', '-mattecolor', '-delay', '-dispose'];

/** Results without the operator. */
const without = new Map<string, Promise<string>>();

it.concurrent.each(Object.entries(OPERATORS))('%s changes the image', async (name, [kind]) => {
  const sample: Sample = SAMPLES[name as keyof typeof OPERATORS] ?? {};
  const { value = exampleOf(kind), before = '', after = '', source = 'photo' } = sample;
  const { format = source === 'film' ? 'gif' : 'png' } = sample;
  // With a seed, ImageMagick makes both, not sharp.
  const [first, last] = [parametersOf(`-seed=1 ${before}`), parametersOf(after)];
  const convert = async (...operators: readonly Parameter[]) =>
    seenIn(await convertOne(SOURCES[source], { format, options: [...first, ...operators, ...last] }));
  const identity = [before, after, source, format].join();
  if (!without.has(identity)) without.set(identity, convert());

  const [changed, unchanged] = await Promise.all([convert({ name, value }), without.get(identity)]);

  expect(changed !== unchanged, `${name}=${value} has an effect`).toBe(!INERT.includes(name));
});
