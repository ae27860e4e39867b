import { ConversionError } from '../shared/errors.ts';
import { choice, flag, geometry, integer, number, sequence } from '../shared/options/parameters.ts';
import { defineTool } from '../shared/tool.ts';
import { brightness, colour, edges, percentages, region, softness, turn } from './readers.ts';

const GRAVITIES = [
  'NorthWest',
  'North',
  'NorthEast',
  'West',
  'Center',
  'East',
  'SouthWest',
  'South',
  'SouthEast',
] as const;

/** What changes the pixels: done from left to right, as in ImageMagick. */
const OPERATORS = {
  resize: geometry('-resize', {
    meaning: 'to fit a box; `!` exactly, `>` only smaller, `<` only larger, `^` fill, `%`, `@`',
  }),
  thumbnail: geometry('-thumbnail', { meaning: 'the same as `-resize`' }),
  scale: geometry('-scale', { meaning: 'as `-resize`, by averaging' }),
  sample: geometry('-sample', { meaning: 'as `-resize`, by picking pixels' }),
  crop: region('-crop', { meaning: 'cuts a region out, placed by `-gravity`' }),
  extent: region('-extent', { meaning: 'sets the canvas, the image placed by `-gravity` on `-background`' }),
  border: edges('-border', { meaning: 'adds edges in `-bordercolor`' }),
  shave: edges('-shave', { meaning: 'cuts edges off' }),
  trim: flag('-trim', { meaning: "cuts edges of the corner's colour, within `-fuzz`" }),
  rotate: turn('-rotate', { meaning: 'degrees clockwise, corners in `-background`' }),
  flip: flag('-flip', { meaning: 'upside down' }),
  flop: flag('-flop', { meaning: 'left to right' }),
  colorspace: choice('-colorspace', ['Gray', 'sRGB', 'RGB', 'CMYK'], {
    meaning: 'colours; CMYK for jpg and tiff',
  }),
  monochrome: flag('-monochrome', { meaning: 'black and white dots' }),
  negate: flag('-negate', { meaning: 'the opposite colours' }),
  blur: softness(['-blur', '-gaussian-blur'], { meaning: 'softens, radius x sigma' }),
  sharpen: softness('-sharpen', { meaning: 'sharpens, radius x sigma' }),
  unsharp: softness('-unsharp', { meaning: 'sharpens edges, radius x sigma + gain + threshold' }),
  normalize: flag('-normalize', { meaning: 'stretches the contrast' }),
  modulate: percentages('-modulate', {
    defaults: [100, 100, 100],
    min: 0,
    max: 1000,
    meaning: 'brightness, saturation, hue in percent',
  }),
  gamma: number('-gamma', { min: 0.1, max: 10, meaning: 'brightens the middle tones above 1' }),
  brightnessContrast: percentages('-brightness-contrast', {
    defaults: [0, 0],
    min: -100,
    max: 100,
    meaning: 'brightness x contrast in percent',
  }),
  threshold: brightness('-threshold', { meaning: 'each channel to none or all' }),
  tint: percentages('-tint', { defaults: [100], min: 0, max: 500, meaning: 'middle tones towards `-fill`' }),
  flatten: flag('-flatten', { meaning: 'lays the image on `-background`' }),
  alpha: choice('-alpha', ['remove', 'off', 'on', 'set', 'opaque'], {
    meaning: 'remove: on `-background`; off, opaque: what was hidden shows',
  }),
} as const;

/** Images to images; the names are those of ImageMagick's `convert`. */
export const imageproc = defineTool({
  name: 'imageproc',
  summary: 'Images of jpg, png, webp, gif, tiff, svg and avif resized, edited and turned into other formats.',
  source: 'file',
  formats: ['jpg', 'png', 'webp', 'avif', 'gif', 'tiff'],
  paged: [],
  parameters: {
    steps: sequence(OPERATORS, { meaning: 'operators, done from left to right' }),
    autoOrient: flag('-auto-orient', { default: true, meaning: 'turns the image as its EXIF data says' }),
    gravity: choice('-gravity', GRAVITIES, { meaning: 'where `-crop` and `-extent` lie; NorthWest' }),
    background: colour('-background', {
      default: 'white',
      meaning: 'colour of what is new, and below what is transparent',
    }),
    borderColour: colour('-bordercolor', { default: '#dfdfdf', meaning: 'colour of `-border`' }),
    fill: colour('-fill', { default: 'black', meaning: 'colour of `-tint`' }),
    fuzz: brightness('-fuzz', { default: 0, meaning: 'how unlike colours may be for `-trim`' }),
    quality: integer('-quality', {
      min: 1,
      max: 100,
      meaning: 'jpg, webp, avif: 92; png: tens are the compression level',
    }),
    density: integer('-density', {
      min: 1,
      max: 1200,
      meaning: 'resolution tag; how large an svg is drawn, 96 is its own size',
    }),
    units: choice('-units', ['PixelsPerInch', 'PixelsPerCentimeter', 'Undefined'], {
      meaning: 'of `-density`; PixelsPerInch',
    }),
    interlace: choice('-interlace', ['Plane', 'Line', 'JPEG', 'PNG', 'GIF', 'Partition', 'None'], {
      meaning: 'progressive jpg and png, but for None',
    }),
    strip: flag('-strip', { default: true, meaning: 'metadata are always left out' }),
    frame: integer('-frame', {
      min: 0,
      max: 9999,
      meaning: 'one frame or page, from 0; else 0, or for gif and webp all',
    }),
  },
  ignored: [
    '-filter',
    '-depth',
    '-dither',
    '-sampling-factor',
    '-compress',
    '-coalesce',
    '-layers',
    '-repage',
    '+repage',
    '-antialias',
    '-limit',
    '-quiet',
    '-verbose',
    '-monitor',
    '-synchronize',
  ],
  refused: [
    '-write',
    '-read',
    '-fx',
    '-script',
    '-define',
    '-draw',
    '-label',
    '-caption',
    '-comment',
    '-annotate',
    '-set',
    '-format',
    '-font',
    '-profile',
    '-texture',
    '-tile',
    '-mask',
    '-remap',
    '-clip-path',
    '-process',
    '-encipher',
    '-decipher',
    '-print',
    '-display',
    '-authenticate',
    '-path',
  ],
  sizing: { memory: 1769, layers: ['sandbox', 'image', 'fonts'] },
  *validate({ steps }, format) {
    const cmyk = steps.some((step) => step.operator === 'colorspace' && step.value === 'CMYK');
    if (cmyk && format !== undefined && format !== 'jpg' && format !== 'tiff') {
      const message = `Parameter '-colorspace' must be Gray or sRGB for ${format} output, got 'CMYK'.`;
      yield new ConversionError('BAD_PARAMETER', message);
    }
  },
});
