import { choice, flag, geometry, integer } from '../../shared/options/parameters.ts';
import { color } from './color.ts';
import { annotation, imageUrl } from './overlay.ts';
import {
  brightness,
  edges,
  gammas,
  levels,
  percentages,
  region,
  softness,
  stretch,
  turn,
} from './readers.ts';

/** Operators that change the pixels, applied from left to right as in ImageMagick. Operators may be repeated. */
export const OPERATORS = {
  resize: geometry('-resize', {
    meaning:
      'fits the image into a box; `!` ignores its aspect ratio, `>` only shrinks, `<` only enlarges, `^` fills the box, `%` scales, `@` limits the area',
  }),
  thumbnail: geometry('-thumbnail', { meaning: 'same as `-resize`' }),
  scale: geometry('-scale', { meaning: 'like `-resize`, with averaged pixels' }),
  sample: geometry('-sample', { meaning: 'like `-resize`, with picked pixels' }),
  crop: region('-crop', {
    meaning: 'cuts out one region, aligned by `-gravity`; `16:9` is the largest area with that aspect ratio',
  }),
  extent: region('-extent', {
    meaning:
      'sets the canvas size, with the image aligned by `-gravity` on `-background`; `16:9` pads to that aspect ratio',
  }),
  border: edges('-border', { meaning: 'adds edges in `-bordercolor`' }),
  shave: edges('-shave', { meaning: 'cuts off edges' }),
  trim: flag('-trim', { meaning: 'cuts off edges of a single color, within `-fuzz`' }),
  rotate: turn('-rotate', { meaning: 'rotates clockwise by degrees, with corners in `-background`' }),
  flip: flag('-flip', { meaning: 'mirrors top to bottom' }),
  flop: flag('-flop', { meaning: 'mirrors left to right' }),
  append: imageUrl('-append', {
    optional: true,
    meaning: 'adds the image at a URL below; without a URL, stacks all frames or pages',
  }),
  appendRight: imageUrl(['+append', ' append'], { optional: true, meaning: 'like `-append`, to the right' }),
  composite: imageUrl('-composite', {
    meaning:
      'draws the image at a URL on top, placed by `-gravity` and `-geometry`, mixed by `-compose` and `-dissolve`',
  }),
  annotate: annotation('-annotate', {
    meaning:
      'writes text, optionally after an offset, aligned by `-gravity`, in `-font`, `-pointsize`, `-fill`, `-stroke`; `\\n` starts a new line',
  }),
  roundedCorners: edges('-rounded-corners', { meaning: 'makes corners transparent outside of a radius' }),
  transparent: color('-transparent', { meaning: 'makes a color transparent, within `-fuzz`' }),
  colorspace: choice('-colorspace', ['Gray', 'sRGB', 'RGB', 'CMYK'], {
    meaning: 'color space; RGB is linear, CMYK only for jpg and tiff',
  }),
  monochrome: flag('-monochrome', { meaning: 'converts to black and white with dithering' }),
  colors: integer('-colors', { min: 2, max: 256, meaning: 'reduces the number of colors' }),
  posterize: integer('-posterize', { min: 2, max: 256, meaning: 'reduces the number of values per channel' }),
  negate: flag('-negate', { meaning: 'inverts the colors' }),
  blur: softness(['-blur', '-gaussian-blur'], { meaning: 'blurs, radius x sigma' }),
  sharpen: softness('-sharpen', { meaning: 'sharpens, radius x sigma' }),
  unsharp: softness('-unsharp', { meaning: 'sharpens edges, radius x sigma + gain + threshold' }),
  normalize: flag('-normalize', { meaning: 'stretches the contrast: 0.15 % become black, 0.05 % white' }),
  autoLevel: flag('-auto-level', { meaning: 'stretches the contrast over the whole range' }),
  contrastStretch: stretch('-contrast-stretch', {
    meaning: 'stretches the contrast, given the shares of pixels that become black and white',
  }),
  level: levels('-level', { meaning: 'stretches the contrast between a black and a white point' }),
  sepiaTone: brightness('-sepia-tone', { meaning: 'applies a sepia tone; 80% is usual' }),
  modulate: percentages('-modulate', {
    defaults: [100, 100, 100],
    min: 0,
    max: 1000,
    meaning: 'brightness, saturation and hue in percent',
  }),
  gamma: gammas('-gamma', { meaning: 'values above 1 brighten the middle tones' }),
  brightnessContrast: percentages('-brightness-contrast', {
    defaults: [0, 0],
    min: -100,
    max: 100,
    meaning: 'brightness x contrast in percent',
  }),
  threshold: brightness('-threshold', {
    meaning: 'turns pixels above a brightness white and all others black',
  }),
  tint: percentages('-tint', {
    defaults: [100],
    min: 0,
    max: 500,
    meaning: 'tints the middle tones with `-fill`',
  }),
  flatten: flag('-flatten', { meaning: 'draws the image on `-background`' }),
  alpha: choice('-alpha', ['remove', 'off', 'on', 'set', 'opaque'], {
    meaning:
      'remove: draws the image on `-background`; off, opaque: shows hidden colors; on, set: adds an alpha channel',
  }),
} as const;
