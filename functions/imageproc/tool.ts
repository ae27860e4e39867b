import { ConversionError } from '../shared/errors.ts';
import {
  category,
  choice,
  flag,
  integer,
  length,
  option,
  repeatable,
  sequence,
} from '../shared/options/option.ts';
import { PAPER, paper } from '../shared/paper.ts';
import { defineTool } from '../shared/tool.ts';
import { formatsWith, IMAGE_FORMATS } from './formats.ts';
import { define, sampling } from './options/define.ts';
import { imagesOf, SETTING_NAMES, STEPS } from './options/steps.ts';
import { resolution } from './options/values.ts';
import { IGNORED, REFUSED } from './options/words.ts';

/** Maximum number of images from other URLs in one request. */
const MAX_IMAGES = 10;

const imageprocOptions = {
  steps: sequence(STEPS, { description: 'Apply operators from left to right', settings: SETTING_NAMES }),
  ...category('Source', {
    autoOrient: flag('-auto-orient', {
      default: true,
      description: 'Rotate the image according to its EXIF orientation',
    }),
    frame: integer('-frame', {
      min: 0,
      max: 9999,
      description:
        'Convert one frame or page, counted from 0. By default, all for gif, webp and tiff, otherwise the first',
    }),
  }),
  ...category('Encoding', {
    quality: integer('-quality', {
      min: 0,
      max: 100,
      outputs: formatsWith('quality'),
      description: 'Set the quality, by default 92. For png, the tens digit is the compression level',
    }),
    interlace: choice('-interlace', ['Plane', 'Line', 'JPEG', 'PNG', 'GIF', 'Partition', 'None'], {
      outputs: formatsWith('interlace'),
      description: 'Write a progressive image, unless the value is None',
    }),
    type: choice(
      '-type',
      ['Bilevel', 'Grayscale', 'GrayscaleAlpha', 'Palette', 'PaletteAlpha', 'TrueColor', 'TrueColorAlpha'],
      {
        outputs: formatsWith('type'),
        description: 'Write this type of pixels. By default, the smallest type that loses nothing',
      },
    ),
    depth: integer('-depth', {
      min: 1,
      max: 16,
      outputs: formatsWith('depth'),
      description: 'Write this number of bits per sample, if that is enough for the image',
    }),
    compress: choice(
      '-compress',
      ['None', 'LZW', 'Zip', 'JPEG', 'RLE', 'Group4', 'Fax', 'LZMA', 'WebP', 'ZSTD'],
      {
        outputs: ['tiff', 'pdf'],
        description:
          'Use this compression. By default, LZW, or Group4 for black and white. In a pdf, photos become JPEGs by default, opaque images with JPEG, none with others',
      },
    ),
    sampling: option('-sampling-factor', sampling.rule, (value) => sampling.parse(value)?.[0], {
      outputs: ['jpg'],
      description: 'Use this chroma subsampling. By default, 4:4:4 from quality 90, otherwise 4:2:0',
    }),
    define: repeatable(define('-define', { description: 'Set an encoder setting of ImageMagick' })),
  }),
  ...category(
    'Pages of a PDF',
    {
      page: paper('-pagesize', {
        description:
          'Use pages of this size, turned like each image. By default, each is as large as its image at its resolution or 96 DPI',
      }),
      margin: length('-margin', {
        min: 0,
        max: 500,
        default: 0,
        description: 'Leave this margin around the image',
      }),
      fit: choice('-fit', ['into', 'shrink', 'fill'], {
        default: 'into' as const,
        with: ['page'],
        description:
          'Fit an image into the page, only shrink it to fit, or fill the page and cut off the rest',
      }),
    },
    { outputs: ['pdf'] },
  ),
  ...category('Metadata', {
    density: resolution('-density', {
      outputs: formatsWith('resolution'),
      anyOutputFrom: ['svg'],
      description: 'Store this resolution. An SVG source is also scaled: 96 is its original size',
    }),
    units: choice('-units', ['PixelsPerInch', 'PixelsPerCentimeter', 'Undefined'], {
      outputs: formatsWith('resolution'),
      description: 'Unit of `-density`, by default PixelsPerInch. Undefined removes the resolution',
    }),
    strip: flag('-strip', {
      default: true,
      outputs: [...formatsWith('metadata'), 'pdf'],
      description: 'Remove metadata. `-strip=no` keeps it',
    }),
    keep: repeatable(
      choice('-keep', ['icc', 'exif', 'xmp'], {
        outputs: [...formatsWith('metadata'), 'pdf'],
        description: 'Keep this metadata. Repeatable',
      }),
    ),
  }),
} as const;

/** Edits and converts images. The option names are those of ImageMagick's `convert`. */
export const imageproc = defineTool({
  name: 'imageproc',
  summary:
    'Resizes, edits and converts images (jpg, png, webp, avif, heic, gif, tiff, svg, bmp, ico, psd and many more).',
  source: 'file',
  formats: IMAGE_FORMATS,
  paged: [],
  options: imageprocOptions,
  common: ['-resize', '-crop', '-rotate', '-quality', '-colorspace', '-strip'],
  ignored: IGNORED,
  refused: REFUSED,
  sizing: { memory: 1769, layers: ['sandbox', 'image', 'imagemagick', 'fonts'] },
  example: {
    infile: 'picture.png',
    outfile: 'picture.jpg',
    options: { '-resize': '400x300!' },
    url: 'https://www.w3.org/Icons/w3c_home.png',
    seconds: { warm: 0.4, start: 0.36 },
  },
  asPages: { page: { width: PAPER.A4[0], height: PAPER.A4[1] } },
  *validate({ steps, page, margin }, format) {
    if (page && 2 * margin >= Math.min(page.width, page.height)) {
      const message = `Parameter '-margin': a margin of ${margin} mm leaves no space for the image on the page.`;
      yield new ConversionError('BAD_PARAMETER', message, { parameter: '-margin' });
    }
    const colorspace = steps.findLast(({ operator }) => operator === '-colorspace')?.value[1];
    const formats = formatsWith('cmyk');
    if (colorspace === 'CMYK' && format !== undefined && !formats.some((each) => each === format)) {
      const message = `Parameter '-colorspace' must not be CMYK for ${format} output. Only ${formats.join(' and ')} support it.`;
      yield new ConversionError('BAD_PARAMETER', message, { parameter: '-colorspace' });
    }
    const { size } = imagesOf(steps);
    if (size > MAX_IMAGES) {
      const message = `Parameters '-composite' and '-append' may name at most ${MAX_IMAGES} images, got ${size}.`;
      yield new ConversionError('BAD_PARAMETER', message, { parameter: '-composite' });
    }
  },
});
