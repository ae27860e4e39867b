import {
  category,
  choice,
  flag,
  integer,
  MAX_PAGE_LIST,
  number,
  option,
  type PageRange,
  pageList,
  readPageList,
  repeatable,
  sourceUrl,
  text,
  type ValuesOf,
} from '../../../shared/options/option.ts';
import { STANDARDS } from '../finish-options.ts';
import { FONT_NAMES } from '../graph/fonts.ts';
import type { Place } from '../graph/work.ts';
import { PAGE_IMAGES } from '../options.ts';

/** A turn of some pages, or of all. */
export interface Rotation {
  /** Degrees clockwise: 0, 90, 180 or 270. */
  readonly degrees: number;
  readonly pages: readonly PageRange[] | undefined;
}

/** Reads `90`, or `90:1-3,!1` for some pages. */
function rotation(value: string): Rotation | undefined {
  const match = /^([+-]?\d{1,4})(?::(.+))?$/.exec(value.trim());
  const degrees = Number(match?.[1]);
  const pages = match?.[2] === undefined ? undefined : readPageList(match[2]);
  if (!match || degrees % 90 !== 0 || (match[2] !== undefined && !pages)) return undefined;
  return { degrees: ((degrees % 360) + 360) % 360, pages };
}

/** Turns pages. With a list of pages, it can be given more than once. */
export const rotations = repeatable(
  option(
    '-rotate',
    'a multiple of 90 from -9990 to 9990, or one for some pages such as 90:1-3,!1',
    rotation,
    {
      outputs: [...PAGE_IMAGES, 'pdf'],
      description:
        'Rotate clockwise by this many degrees. `90:1-3,!1` rotates some pages, and can be repeated',
      maxLength: MAX_PAGE_LIST,
    },
  ),
  { maxTotal: MAX_PAGE_LIST },
);

const GRAVITIES = [
  ...(['NorthWest', 'North', 'NorthEast', 'West', 'Center', 'East'] as const),
  ...(['SouthWest', 'South', 'SouthEast'] as const),
];
const MAX_OFFSET = 5000;

/** Reads `SouthEast`, or `SouthEast+10+5` with the distance from the edges in millimeters. */
function position(value: string): Place | undefined {
  const match = /^([a-z]+)(?:([+-]\d{1,4}(?:\.\d{1,3})?)([+-]\d{1,4}(?:\.\d{1,3})?))?$/i.exec(
    value.trim().replaceAll(' ', '+'),
  );
  const gravity = GRAVITIES.find((known) => known.toLowerCase() === match?.[1]?.toLowerCase());
  const [x, y] = [Number(match?.[2] ?? 0), Number(match?.[3] ?? 0)];
  return gravity && Math.max(Math.abs(x), Math.abs(y)) <= MAX_OFFSET ? { gravity, x, y } : undefined;
}

const POSITION_RULE =
  'a position such as Center, SouthEast or SouthEast+10+5 (millimeters from the right and the bottom)';

/** Names of colors, as in HTML. */
const COLORS: Readonly<Record<string, string>> = {
  black: '000000',
  white: 'ffffff',
  gray: '808080',
  silver: 'c0c0c0',
  red: 'ff0000',
  maroon: '800000',
  green: '008000',
  blue: '0000ff',
  navy: '000080',
  orange: 'ffa500',
  yellow: 'ffff00',
  purple: '800080',
};

/** Reads a color as red, green and blue from 0 to 1. */
function color(value: string): readonly [number, number, number] | undefined {
  const name = value.toLowerCase();
  const hex = Object.hasOwn(COLORS, name)
    ? COLORS[name]!
    : name.replace(/^#/, '').replace(/^(.)(.)(.)$/, '$1$1$2$2$3$3');
  if (!/^[0-9a-f]{6}$/.test(hex)) return undefined;
  const channel = (at: number) => Number.parseInt(hex.slice(at, at + 2), 16) / 255;
  return [channel(0), channel(2), channel(4)];
}

const fontOf = (name: string, key: string, value: (typeof FONT_NAMES)[number]) =>
  option(
    name,
    `one of ${FONT_NAMES.join(', ')}`,
    (given) => FONT_NAMES.find((known) => known.toLowerCase() === given.toLowerCase()),
    {
      default: value,
      with: [key],
      description: 'Use this font. Characters that it lacks come from other fonts',
    },
  );

const colorOf = (name: string, key: string, value: readonly [number, number, number], shown: string) =>
  option(name, 'a color such as red or #cc0000', color, {
    default: value,
    schema: { type: 'string', default: shown },
    with: [key],
    description: 'Use this color',
  });

const positionOf = (name: string, key: string, value: string, what: string) =>
  option(name, POSITION_RULE, position, {
    default: position(value)!,
    schema: { type: 'string', default: value },
    with: [key],
    description: `Place ${what} here`,
  });

const pagesOf = (name: string, key: string, what: string) =>
  pageList(name, { with: [key], description: `Put ${what} on these pages only, counted in the result` });

const opacityOf = (name: string, key: string, value: number) =>
  number(name, {
    min: 0,
    max: 1,
    default: value,
    with: [key],
    description: 'Use this opacity. 0 is invisible',
  });

/** Reads `fit`, or a factor. */
function scale(value: string): number | 'fit' | undefined {
  if (value.toLowerCase() === 'fit') return 'fit';
  const factor = /^\d{1,3}(\.\d{1,4})?$/.test(value) ? Number(value) : 0;
  return factor > 0 && factor <= 100 ? factor : undefined;
}

const scaleOf = (name: string, key: string) =>
  option(name, 'fit, or a factor up to 100', scale, {
    with: [key],
    description:
      'Scale to fit the page, or by this factor. By default, what is larger than the page is scaled down to fit',
  });

const BLACK = [0, 0, 0] as const;
const GRAY = [0.5, 0.5, 0.5] as const;

const MAX_TEXT = 500;

const INFORMATION = ['Title', 'Author', 'Subject', 'Keywords', 'Creator', 'Producer'] as const;

/** Reads `Title:value`. */
function information(value: string) {
  const match = /^([a-z]{1,50})[,:](.{0,500})$/i.exec(value);
  const name = INFORMATION.find((known) => known.toLowerCase() === match?.[1]?.toLowerCase());
  return match && name ? { name, value: match[2]! } : undefined;
}

/** The resolution that images are reduced to, and the quality of JPEGs. */
export interface Optimization {
  readonly dpi: number;
  readonly quality: number;
}

const OPTIMIZATIONS: Readonly<Record<string, Optimization>> = {
  screen: { dpi: 150, quality: 60 },
  print: { dpi: 300, quality: 85 },
};

/** Compresses the images of a PDF. */
export const optimize = option(
  '-optimize',
  'screen, print or a resolution from 20 to 1200',
  (value): Optimization | undefined => {
    const dpi = /^\d{2,4}$/.test(value) ? Number(value) : 0;
    if (Object.hasOwn(OPTIMIZATIONS, value)) return OPTIMIZATIONS[value];
    return dpi >= 20 && dpi <= 1200 ? { dpi, quality: 75 } : undefined;
  },
  {
    description:
      'Compress images as JPEG, if that makes them smaller, and reduce them to a resolution in DPI: `screen` means 150 and quality 60, `print` 300 and 85, a number this resolution and 75. Images with 1 or 16 bits per color, in CMYK, or with a masked color stay as they are. By default, nothing is lost',
  },
);

const PDF = { outputs: ['pdf'] } as const;

/** Options that change a PDF before it is drawn or written, in the order in which they apply. */
export const toolboxOptions = {
  ...category('Merge', {
    append: repeatable(
      sourceUrl('-append', {
        description:
          'Add the pages of this document after those of `infile`. Repeatable. Images, office documents and web pages become PDFs first',
      }),
    ),
  }),
  ...category('Forms', {
    fill: sourceUrl('-fill', {
      description:
        'Fill in form fields with these values: JSON such as `{"name": "Ada", "agree": true}`, or XFDF',
    }),
    fillStrict: flag('-fill-strict', {
      with: ['fill'],
      description:
        'Report an error if a value cannot be filled in. By default, the others are filled in, with a warning',
    }),
    flatten: flag('-flatten', {
      description: 'Make form fields and annotations part of the pages, so that they cannot be changed',
    }),
  }),
  ...category('Stamps', {
    underlay: sourceUrl('-underlay', {
      description:
        'Draw this PDF or image under the pages: its pages one by one, and its last page under all others',
    }),
    underlayPages: pagesOf('-underlay-pages', 'underlay', 'the underlay'),
    underlayPosition: positionOf('-underlay-position', 'underlay', 'Center', 'the underlay'),
    underlayScale: scaleOf('-underlay-scale', 'underlay'),
    underlayOpacity: opacityOf('-underlay-opacity', 'underlay', 1),
    stamp: sourceUrl('-stamp', { description: 'Draw this PDF or image over the pages, like `-underlay`' }),
    stampPages: pagesOf('-stamp-pages', 'stamp', 'the stamp'),
    stampPosition: positionOf('-stamp-position', 'stamp', 'Center', 'the stamp'),
    stampScale: scaleOf('-stamp-scale', 'stamp'),
    stampOpacity: opacityOf('-stamp-opacity', 'stamp', 1),
    mark: text('-watermark', { max: MAX_TEXT, description: 'Write this text across the pages' }),
    markPages: pagesOf('-watermark-pages', 'mark', 'the watermark'),
    markPosition: positionOf('-watermark-position', 'mark', 'Center', 'the watermark'),
    markFont: fontOf('-watermark-font', 'mark', 'Helvetica-Bold'),
    markSize: number('-watermark-size', {
      min: 1,
      max: 1000,
      with: ['mark'],
      description: 'Use this font size in points. By default, the text spans the page',
    }),
    markColor: colorOf('-watermark-color', 'mark', GRAY, 'gray'),
    markAngle: number('-watermark-angle', {
      min: -360,
      max: 360,
      default: 45,
      with: ['mark'],
      description: 'Turn the text counterclockwise by this many degrees',
    }),
    markOpacity: opacityOf('-watermark-opacity', 'mark', 0.3),
    number: text('-number', {
      max: MAX_TEXT,
      description:
        'Write this text on the pages, such as `Page %p of %n`: `%p` is the number of the page, `%n` that of the last page',
    }),
    numberStart: integer('-number-start', {
      min: -100_000,
      max: 1_000_000,
      default: 1,
      with: ['number'],
      description: 'Give the first page this number',
    }),
    numberPages: pagesOf('-number-pages', 'number', 'numbers'),
    numberPosition: positionOf('-number-position', 'number', 'South+0+8', 'the number'),
    numberFont: fontOf('-number-font', 'number', 'Helvetica'),
    numberSize: number('-number-size', {
      min: 1,
      max: 200,
      default: 10,
      with: ['number'],
      description: 'Use this font size in points',
    }),
    numberColor: colorOf('-number-color', 'number', BLACK, 'black'),
  }),
  ...category(
    'File',
    {
      attach: repeatable(
        sourceUrl('-attach', {
          description: 'Attach this file to the PDF. Repeatable',
        }),
      ),
      metadata: repeatable(
        option('-metadata', `name:value, where name is one of ${INFORMATION.join(', ')}`, information, {
          maxLength: 551,
          description: 'Set an entry of the document information. Repeatable',
        }),
      ),
      pdfVersion: choice(['--pdf-version', '-pdf-version'], STANDARDS, {
        description:
          'Make the PDF follow this standard for archives. What keeps it from that is an error. With PDF/A-3, an attached `factur-x.xml` makes it a Factur-X invoice',
      }),
      force: flag('-force', {
        description:
          'Change the PDF even if its permissions do not allow it, or if that makes its signatures invalid. If it cannot follow `--pdf-version`, write it without',
      }),
    },
    PDF,
  ),
} as const;

export type ToolboxOptions = ValuesOf<typeof toolboxOptions> & { readonly rotations: readonly Rotation[] };
