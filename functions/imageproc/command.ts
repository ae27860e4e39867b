import { matteOf } from './encode/options.ts';
import { has, type ImageFormat } from './formats.ts';
import { defined } from './options/define.ts';
import type { Operation, SettingName } from './options/steps.ts';
import { needsAllFrames } from './plan.ts';
import type { Frames, ImageprocOptions } from './request.ts';

/** Settings that ImageMagick gets. The others are for sharp, or part of `-composite`. */
const SETTINGS: readonly SettingName[] = [
  ...(['-background', '-bordercolor', '-fill', '-stroke', '-strokewidth', '-fuzz', '-gravity'] as const),
];

/** Operators that change the size of the canvas, which would move later results. */
const MOVING = /^-(crop|trim|rotate|shear|deskew|chop|splice|polaroid|shadow|extent)$|^\+distort$/;

const FIRST_FRAME = ['-delete', '1--1'];

interface Edit extends Frames {
  readonly operations: readonly Operation[];
  /** Files of the images that operators use, by URL. */
  readonly images: Readonly<Record<string, string>>;
  readonly options: ImageprocOptions;
}

/** Returns ImageMagick's arguments that read the frames and apply operators to them. */
export function editArguments(edit: Edit): string[] {
  const { frames, operations, animation, options, density } = edit;
  const list = operations.findIndex(needsAllFrames);
  const [each, all] = list < 0 ? [operations, []] : [operations.slice(0, list), operations.slice(list)];
  const wordsOf = (operation: Operation) => [...settings(operation), ...operator(operation, edit)];
  const defines = options.define.flatMap(({ key, value }) => ['-define', `${key}=${value}`]);
  const read = frames.flatMap((frame, index) => {
    // Milliseconds to hundredths of a second.
    const delay = animation && ['-delay', String(Math.round((animation.delay[index] ?? 100) / 10))];
    return ['(', ...(delay ?? []), `png:${frame}`, ...each.flatMap(wordsOf), ')'];
  });
  return ['-background', 'white', ...resolution(density), ...defines, ...read, ...all.flatMap(wordsOf)];
}

function resolution(density: Frames['density']): string[] {
  return density ? ['-units', 'PixelsPerInch', '-density', `${density.x}x${density.y}`] : [];
}

function settings({ settings: values }: Operation): string[] {
  const words = SETTINGS.flatMap((name) => {
    const value = values[name];
    return value === undefined ? [] : [name, value];
  });
  const { '-dither': dither } = values;
  return [...words, ...(dither === 'off' ? ['+dither'] : dither ? ['-dither', dither] : [])];
}

function operator({ value, settings }: Operation, { images }: Edit): string[] {
  const [option, url] = value as [string, ...string[]];
  const image = url !== undefined && images[url];
  if (option === '-composite' && image) {
    const { '-geometry': geometry = '+0+0', '-compose': compose = 'Over' } = settings;
    const { '-dissolve': dissolve = '100' } = settings;
    const share = String(Number(dissolve) / 100);
    const opacity = ['-alpha', 'set', '-channel', 'A', '-evaluate', 'Multiply', share, '+channel'];
    const overlay = ['(', `png:${image}`, ...(dissolve === '100' ? [] : opacity), ...placed(geometry), ')'];
    return [...overlay, '-compose', compose, '-composite', '+compose'];
  }
  if (image) return ['(', `png:${image}`, ')', option];
  return MOVING.test(option) ? [...value, '+repage'] : [...value];
}

/** Resizes an overlay and sets its offset. */
function placed(geometry: string): string[] {
  const [, size = '', offset = '+0+0'] = /^([^+-]*)(.*)$/.exec(geometry)!;
  return [...(size ? ['-resize', size] : []), '-geometry', offset || '+0+0'];
}

/** Returns ImageMagick's arguments that write the result. */
export function writeArguments(
  format: ImageFormat,
  options: ImageprocOptions,
  { frames, density, animation, isBilevel }: Frames,
): string[] {
  const { quality, interlace, type, depth, compress, sampling, strip, keep, units } = options;
  // As in sharp, a quality of 0 means the default.
  const written = Object.entries({
    quality: quality || undefined,
    interlace,
    type,
    depth,
    compress,
    'sampling-factor': sampling,
  });
  const isAnimated = frames.length > 1 && has(format, 'animation');
  const color = defined(options.define, 'png:color-type');
  return [
    ...(color === '0' ? ['-type', 'Grayscale'] : color === '4' ? ['-type', 'GrayscaleAlpha'] : []),
    ...(format === 'png' && depth ? ['-define', `png:bit-depth=${depth}`] : []),
    // Photoshop's metadata blocks contain their own resolution.
    ...(strip && keep.length === 0 ? ['-strip'] : []),
    ...(units === 'Undefined' ? ['+density'] : density ? resolution(density) : ['-units', 'Undefined']),
    ...(has(format, 'alpha') ? [] : ['-background', matteOf(options), '-alpha', 'remove', '-alpha', 'off']),
    ...(format === 'tiff' && compress === undefined ? ['-compress', isBilevel ? 'Group4' : 'LZW'] : []),
    ...(format === 'tiff' && isBilevel && type === undefined ? ['-type', 'Bilevel'] : []),
    // Other formats would write one file per frame.
    ...(has(format, 'frames') ? [] : FIRST_FRAME),
    // The maximum that the format allows.
    ...(format === 'ico' ? ['-resize', '256x256>'] : []),
    ...(animation ? ['-loop', String(animation.loop)] : []),
    // Puts frames of different sizes on one canvas.
    ...(isAnimated ? ['-dispose', 'Background', '-layers', 'trim-bounds', '-coalesce'] : []),
    ...(isAnimated && format === 'gif' ? ['-layers', 'optimize'] : []),
    ...written.flatMap(([name, value]) => (value === undefined ? [] : [`-${name}`, String(value)])),
  ];
}

/** Returns ImageMagick's name of a format. */
export function coderOf(format: string): string {
  return format === 'jpg' ? 'jpeg' : format;
}
