import { ignoredPageNames, pageParameters, refusedPageNames } from '../shared/chromium/page-options.ts';
import { checkPageSelection } from '../shared/options/page-selection.ts';
import {
  choice,
  flag,
  integer,
  length,
  number,
  type Parameter,
  pageList,
  size,
  text,
} from '../shared/options/parameters.ts';
import { defineTool, type OptionsOf } from '../shared/tool.ts';
import { checkMargins, layoutOf } from './paper/layout.ts';
import { PAPER_NAMES } from './paper/sizes.ts';

/** Millimetres of a side of paper; PDF readers stop at 200 inches. */
const SIDE = { min: 10, max: 5080 } as const;

const margin = (names: readonly string[], side: string) =>
  length(names, {
    min: 0,
    max: 500,
    meaning: `${side} margin. If not given, what the page's \`@page\` rule says, or 10 mm`,
  });

const words = (name: string, place: string) =>
  text(name, {
    max: 500,
    meaning: `text ${place}; filled in: \`[page]\`, \`[topage]\`, \`[title]\`, \`[webpage]\`, \`[date]\`, \`[isodate]\`, \`[time]\``,
  });

const height = length('--page-height', {
  ...SIDE,
  meaning: 'height of the paper, or `auto`: one page as tall as the content',
});

const pageHeight: Parameter<number | 'auto' | undefined> = {
  ...height,
  rule: `auto, or ${height.rule}`,
  read: (given) => (given[0]!.value.toLowerCase() === 'auto' ? 'auto' : height.read(given)),
};

/** Web pages to PDF; the names are those of wkhtmltopdf, and so are the defaults. */
export const html2pdf = defineTool({
  name: 'html2pdf',
  summary: 'A web page as PDF.',
  source: 'page',
  formats: ['pdf'],
  paged: [],
  parameters: {
    pageSize: choice(['-s', '--page-size'], PAPER_NAMES, {
      meaning: "size of the paper. If not given, what the page's `@page` rule says, or A4",
    }),
    pageWidth: length('--page-width', { ...SIDE, meaning: 'width of the paper. Overrides `--page-size`' }),
    pageHeight,
    orientation: choice(['-O', '--orientation'], ['Portrait', 'Landscape'], {
      meaning: "orientation of the paper. If not given, what the page's `@page` rule says, or Portrait",
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
    zoom: number('--zoom', { min: 0.1, max: 2, default: 1, meaning: 'size of the content' }),
    shrink: flag('--enable-smart-shrinking', {
      default: true,
      off: '--disable-smart-shrinking',
      meaning: 'shrink content that is wider than the paper, to two thirds at most',
    }),
    background: flag('--background', {
      default: true,
      off: '--no-background',
      meaning: 'backgrounds are printed',
    }),
    grayscale: flag(['-g', '--grayscale'], { meaning: 'print in shades of gray' }),
    ...pageParameters,
    headerLeft: words('--header-left', 'at the top left'),
    headerCenter: words('--header-center', 'at the top centre'),
    headerRight: words('--header-right', 'at the top right'),
    headerLine: flag('--header-line', { off: '--no-header-line', meaning: 'a line below the header' }),
    headerFontName: text('--header-font-name', { max: 100, default: 'Arial', meaning: 'its font' }),
    headerFontSize: number('--header-font-size', {
      min: 4,
      max: 72,
      default: 12,
      meaning: 'its size, points',
    }),
    headerSpacing: number('--header-spacing', {
      min: 0,
      max: 100,
      default: 0,
      meaning: 'millimetres between header and content',
    }),
    footerLeft: words('--footer-left', 'at the bottom left'),
    footerCenter: words('--footer-center', 'at the bottom centre'),
    footerRight: words('--footer-right', 'at the bottom right'),
    footerLine: flag('--footer-line', { off: '--no-footer-line', meaning: 'a line above the footer' }),
    footerFontName: text('--footer-font-name', { max: 100, default: 'Arial', meaning: 'its font' }),
    footerFontSize: number('--footer-font-size', {
      min: 4,
      max: 72,
      default: 12,
      meaning: 'its size, points',
    }),
    footerSpacing: number('--footer-spacing', {
      min: 0,
      max: 100,
      default: 0,
      meaning: 'millimetres between content and footer',
    }),
    pageRanges: pageList('--page-ranges', { meaning: 'pages of the PDF to keep' }),
    firstPage: integer('-f', { min: 0, max: 100_000, meaning: 'first page to keep; 0 is the first' }),
    lastPage: integer('-l', {
      min: 0,
      max: 100_000,
      meaning: 'last page to keep; 0, and past the end, is the last',
    }),
    viewport: size('--viewport-size', {
      min: 1,
      max: 16_384,
      meaning:
        'size of the window in CSS pixels. A window wider than the paper is scaled down to it. If not given, the window is as large as the printable area',
    }),
    outline: flag('--outline', {
      default: true,
      off: '--no-outline',
      meaning: 'add bookmarks for the headings',
    }),
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
    '--outline-depth',
    '--page-offset',
    '--resolve-relative-links',
    '--keep-relative-links',
    '--enable-external-links',
    '--disable-external-links',
    '--enable-internal-links',
    '--disable-internal-links',
    '--enable-forms',
    '--disable-forms',
    '--enable-toc-back-links',
    '--disable-toc-back-links',
    '--exclude-from-outline',
    '--include-in-outline',
    '--default-header',
    '--replace',
  ],
  refused: [...refusedPageNames, '--header-html', '--footer-html', '--xsl-style-sheet', '--dump-outline'],
  sizing: { memory: 2048, layers: ['chromium', 'fonts'] },
  *validate(options) {
    yield* checkPageSelection({ ...options, pages: options.pageRanges }, '--page-ranges');
    yield* checkMargins(layoutOf(options, { header: false, footer: false }));
  },
});

export type Html2pdfOptions = OptionsOf<typeof html2pdf>;
