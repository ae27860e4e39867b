import { ignoredPageNames, pageParameters, refusedPageNames } from '../shared/chromium/page-options.ts';
import { ConversionError } from '../shared/errors.ts';
import { checkPageSelection } from '../shared/options/page-selection.ts';
import {
  choice,
  flag,
  integer,
  length,
  list,
  number,
  type Parameter,
  pageList,
  parameter,
  size,
  text,
} from '../shared/options/parameters.ts';
import { defineTool, type OptionsOf } from '../shared/tool.ts';
import { checkMargins, layoutOf } from './paper/layout.ts';
import { PAPER_NAMES } from './paper/sizes.ts';

/** Millimetres of a side of paper. PDF readers support at most 200 inches. */
const SIDE = { min: 10, max: 5080 } as const;

const margin = (names: readonly string[], side: string) =>
  length(names, {
    min: 0,
    max: 500,
    meaning: `${side} margin. By default, as in the page's \`@page\` rule, or 10 mm`,
  });

const words = (name: string, place: string) =>
  text(name, {
    max: 500,
    meaning: `text ${place}, with these placeholders: \`[page]\`, \`[topage]\`, \`[title]\`, \`[webpage]\`, \`[date]\`, \`[isodate]\`, \`[time]\``,
  });

const html = (name: string, place: string) =>
  text(name, {
    max: 100_000,
    meaning: `HTML ${place}, or its URL. Chromium fills in the classes \`pageNumber\`, \`totalPages\`, \`title\`, \`url\` and \`date\`, and wkhtmltopdf's \`page\` and \`topage\`. Scripts do not run, and images must be data URLs`,
  });

/** Reads `name,value` or `name:value`. */
function replacement(value: string): { name: string; value: string } | undefined {
  const match = /^([\w-]{1,50})[,:](.{0,500})$/.exec(value);
  return match ? { name: match[1]!, value: match[2]! } : undefined;
}

const INFORMATION = ['Title', 'Author', 'Subject', 'Keywords', 'Creator', 'Producer'] as const;

function information(value: string) {
  const read = replacement(value);
  const name = INFORMATION.find((known) => known.toLowerCase() === read?.name.toLowerCase());
  return read && name ? { name, value: read.value } : undefined;
}

const PASSWORD = { max: 100 } as const;

const height = length('--page-height', {
  ...SIDE,
  meaning: 'height of the paper. `auto` makes one page as tall as the content',
});

const pageHeight: Parameter<number | 'auto' | undefined> = {
  ...height,
  rule: `auto, or ${height.rule}`,
  read: (given) => (given[0]!.value.toLowerCase() === 'auto' ? 'auto' : height.read(given)),
};

/** Web pages to PDF. Names and defaults are those of wkhtmltopdf. */
export const html2pdf = defineTool({
  name: 'html2pdf',
  summary: 'Converts web pages to PDF.',
  source: 'page',
  formats: ['pdf'],
  paged: [],
  parameters: {
    pageSize: choice(['-s', '--page-size'], PAPER_NAMES, {
      meaning: "size of the paper. By default, as in the page's `@page` rule, or A4",
    }),
    pageWidth: length('--page-width', { ...SIDE, meaning: 'width of the paper. Overrides `--page-size`' }),
    pageHeight,
    orientation: choice(['-O', '--orientation'], ['Portrait', 'Landscape'], {
      meaning: "orientation of the paper. By default, as in the page's `@page` rule, or Portrait",
    }),
    preferCssPageSize: flag('--prefer-css-page-size', {
      default: true,
      off: '--no-prefer-css-page-size',
      meaning: "use size and margins of the page's `@page` rules. A paper or margin option overrides them",
    }),
    marginTop: margin(['-T', '--margin-top'], 'top'),
    marginBottom: margin(['-B', '--margin-bottom'], 'bottom'),
    marginLeft: margin(['-L', '--margin-left'], 'left'),
    marginRight: margin(['-R', '--margin-right'], 'right'),
    zoom: number('--zoom', { min: 0.1, max: 2, default: 1, meaning: 'scale of the content' }),
    shrink: flag('--enable-smart-shrinking', {
      default: true,
      off: '--disable-smart-shrinking',
      meaning: 'shrink content that is wider than the paper, down to two thirds of its size',
    }),
    background: flag('--background', {
      default: true,
      off: '--no-background',
      meaning: 'print backgrounds',
    }),
    grayscale: flag(['-g', '--grayscale'], { meaning: 'print in grayscale' }),
    ...pageParameters,
    headerLeft: words('--header-left', 'at the top left'),
    headerCenter: words('--header-center', 'at the top center'),
    headerRight: words('--header-right', 'at the top right'),
    headerLine: flag('--header-line', { off: '--no-header-line', meaning: 'draw a line below the header' }),
    headerFontName: text('--header-font-name', { max: 100, default: 'Arial', meaning: 'font of the texts' }),
    headerFontSize: number('--header-font-size', {
      min: 4,
      max: 72,
      default: 12,
      meaning: 'font size in points',
    }),
    headerSpacing: number('--header-spacing', {
      min: 0,
      max: 100,
      default: 0,
      meaning: 'distance between header and content in millimeters',
    }),
    footerLeft: words('--footer-left', 'at the bottom left'),
    footerCenter: words('--footer-center', 'at the bottom center'),
    footerRight: words('--footer-right', 'at the bottom right'),
    footerLine: flag('--footer-line', { off: '--no-footer-line', meaning: 'draw a line above the footer' }),
    footerFontName: text('--footer-font-name', { max: 100, default: 'Arial', meaning: 'font of the texts' }),
    footerFontSize: number('--footer-font-size', {
      min: 4,
      max: 72,
      default: 12,
      meaning: 'font size in points',
    }),
    footerSpacing: number('--footer-spacing', {
      min: 0,
      max: 100,
      default: 0,
      meaning: 'distance between content and footer in millimeters',
    }),
    pageRanges: pageList('--page-ranges', { meaning: 'pages of the PDF to keep' }),
    firstPage: integer('-f', { min: 0, max: 100_000, meaning: 'first page to keep. 0 means the first' }),
    lastPage: integer('-l', {
      min: 0,
      max: 100_000,
      meaning: 'last page to keep. 0, or a number past the end, means the last',
    }),
    viewport: size('--viewport-size', {
      min: 1,
      max: 16_384,
      meaning:
        'size of the window in CSS pixels. A window wider than the paper is scaled down to it. By default, the window is as large as the printable area',
    }),
    outline: flag('--outline', {
      default: true,
      off: '--no-outline',
      meaning: 'add bookmarks for the headings',
    }),
    outlineDepth: integer('--outline-depth', {
      min: 1,
      max: 6,
      meaning: 'lowest level of headings that get a bookmark',
    }),
    externalLinks: flag('--enable-external-links', {
      default: true,
      off: '--disable-external-links',
      meaning: 'keep links to other pages',
    }),
    internalLinks: flag('--enable-internal-links', {
      default: true,
      off: '--disable-internal-links',
      meaning: 'keep links within the page',
    }),
    headerHtml: html('--header-html', 'for the top margin'),
    footerHtml: html('--footer-html', 'for the bottom margin'),
    replacements: list(
      parameter('--replace', 'name,value', replacement, {
        meaning: 'value for a placeholder `[name]` in header and footer texts. Can be given more than once',
      }),
    ),
    encrypt: text('--encrypt', { ...PASSWORD, meaning: 'password to open the PDF (AES-256)' }),
    ownerPassword: text('--owner-password', {
      ...PASSWORD,
      meaning: 'password that removes the restrictions of the PDF. Random by default',
    }),
    print: choice('--allow-print', ['full', 'low', 'none'], {
      default: 'full' as const,
      meaning: 'how the PDF may be printed',
    }),
    modify: choice('--allow-modify', ['all', 'annotate', 'form', 'assembly', 'none'], {
      default: 'all' as const,
      meaning: 'how the PDF may be changed',
    }),
    copy: flag('--copy', {
      default: true,
      off: '--no-copy',
      meaning: 'text and images may be copied from the PDF',
    }),
    metadata: list(
      parameter('--metadata', `name:value, where name is one of ${INFORMATION.join(', ')}`, information, {
        meaning: 'an entry of the document information. Can be given more than once',
      }),
    ),
    tagged: flag('--tagged', {
      default: true,
      off: '--no-tagged',
      meaning: 'add the structure that screen readers use',
    }),
    title: text('--title', { max: 500, meaning: 'title of the document' }),
  },
  ignored: [
    ...ignoredPageNames,
    '--collate',
    '--no-collate',
    '--copies',
    '--dpi',
    '-d',
    '--image-dpi',
    '--image-quality',
    '--lowquality',
    '--no-pdf-compression',
    '--page-offset',
    '--resolve-relative-links',
    '--keep-relative-links',
    '--enable-forms',
    '--disable-forms',
    '--enable-toc-back-links',
    '--disable-toc-back-links',
    '--exclude-from-outline',
    '--include-in-outline',
    '--default-header',
  ],
  refused: [...refusedPageNames, '--xsl-style-sheet', '--dump-outline'],
  sizing: { memory: 2048, layers: ['chromium', 'fonts', 'pdf'] },
  *validate(options) {
    yield* checkPageSelection({ ...options, pages: options.pageRanges }, '--page-ranges');
    yield* checkPlaceholders(options);
    yield* checkMargins(layoutOf(options, { header: false, footer: false }));
  },
});

const TEXTS = [
  ['--header-left', 'headerLeft'],
  ['--header-center', 'headerCenter'],
  ['--header-right', 'headerRight'],
  ['--footer-left', 'footerLeft'],
  ['--footer-center', 'footerCenter'],
  ['--footer-right', 'footerRight'],
] as const;

/** Chromium does not report which heading a page belongs to. No PDF is better than one with an empty header. */
function* checkPlaceholders(
  options: Readonly<Record<(typeof TEXTS)[number][1], string | undefined>>,
): Generator<ConversionError> {
  for (const [name, option] of TEXTS) {
    const placeholder = /\[(sub)*section\]/.exec(options[option] ?? '')?.[0];
    if (!placeholder) continue;
    yield new ConversionError(
      'BAD_PARAMETER',
      `Parameter '${name}' must not contain '${placeholder}', which is not supported.`,
    );
  }
}

export type Html2pdfOptions = OptionsOf<typeof html2pdf>;
