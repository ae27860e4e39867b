import { ConversionError } from '../shared/errors.ts';
import { choice, flag, integer, list, parameter, sequence } from '../shared/options/parameters.ts';
import { defineTool } from '../shared/tool.ts';
import { define, sampling } from './options/define.ts';
import { resolution } from './options/resolution.ts';
import { imagesOf, SETTING_NAMES, STEPS } from './options/steps.ts';
import { IGNORED, REFUSED } from './options/words.ts';

/** Maximum number of images from other URLs in one request. */
const MAX_IMAGES = 10;

/** Images to images. The names are those of ImageMagick's `convert`. */
export const imageproc = defineTool({
  name: 'imageproc',
  summary:
    'Resizes, edits and converts images (jpg, png, webp, avif, heic, gif, tiff, svg, bmp, ico, psd and many more).',
  source: 'file',
  formats: ['jpg', 'png', 'webp', 'avif', 'gif', 'tiff'],
  paged: [],
  parameters: {
    steps: sequence(STEPS, { meaning: 'operators, applied from left to right', settings: SETTING_NAMES }),
    autoOrient: flag('-auto-orient', {
      default: true,
      meaning: 'rotates the image according to its EXIF orientation',
    }),
    quality: integer('-quality', {
      min: 0,
      max: 100,
      meaning: 'jpg, webp, avif: 92 by default; png: the tens digit is the compression level',
    }),
    density: resolution('-density', {
      meaning: 'resolution stored in the result; an svg is also scaled, where 96 is its own size',
    }),
    units: choice('-units', ['PixelsPerInch', 'PixelsPerCentimeter', 'Undefined'], {
      meaning: 'unit of `-density`, PixelsPerInch by default; Undefined removes the resolution',
    }),
    interlace: choice('-interlace', ['Plane', 'Line', 'JPEG', 'PNG', 'GIF', 'Partition', 'None'], {
      meaning: 'any value but None writes progressive jpg and png',
    }),
    type: choice(
      '-type',
      ['Bilevel', 'Grayscale', 'GrayscaleAlpha', 'Palette', 'PaletteAlpha', 'TrueColor', 'TrueColorAlpha'],
      { meaning: 'pixel type; by default the smallest lossless one' },
    ),
    depth: integer('-depth', {
      min: 1,
      max: 16,
      meaning: 'bits per sample of a png, if that is enough for the image',
    }),
    compress: choice(
      '-compress',
      ['None', 'LZW', 'Zip', 'JPEG', 'RLE', 'Group4', 'Fax', 'LZMA', 'WebP', 'ZSTD'],
      {
        meaning: 'compression of a tiff: LZW by default, Group4 for black and white',
      },
    ),
    sampling: parameter('-sampling-factor', sampling.rule, (value) => sampling.parse(value)?.[0], {
      meaning: 'chroma subsampling of a jpg; by default 4:4:4 from quality 90, else 4:2:0',
    }),
    define: list(define('-define', { meaning: 'encoder settings of ImageMagick' })),
    strip: flag('-strip', { default: true, meaning: 'removes metadata; `-strip=no` keeps all of it' }),
    keep: list(
      choice('-keep', ['icc', 'exif', 'xmp'], { meaning: 'metadata to keep. Can be given more than once' }),
    ),
    frame: integer('-frame', {
      min: 0,
      max: 9999,
      meaning: 'one frame or page, counted from 0; by default all for gif, webp and tiff, else the first',
    }),
  },
  ignored: IGNORED,
  refused: REFUSED,
  sizing: { memory: 1769, layers: ['sandbox', 'image', 'imagemagick', 'fonts'] },
  *validate({ steps }, format) {
    const cmyk = steps.some((step) => step.operator === '-colorspace' && step.value[1] === 'CMYK');
    if (cmyk && format !== undefined && format !== 'jpg' && format !== 'tiff') {
      const message = `Parameter '-colorspace' must be Gray, sRGB or RGB for ${format} output, got 'CMYK'.`;
      yield new ConversionError('BAD_PARAMETER', message);
    }
    const { size } = imagesOf(steps);
    if (size > MAX_IMAGES) {
      const message = `Parameters '-composite' and '-append' may name at most ${MAX_IMAGES} images, got ${size}.`;
      yield new ConversionError('BAD_PARAMETER', message);
    }
  },
});
