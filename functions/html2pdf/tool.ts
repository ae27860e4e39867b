import { ignoredPageNames, pageParameters, refusedPageNames } from '../engines/chromium/page-options.ts';
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
import { contentsParameters } from './parameters/contents.ts';
import { fileParameters } from './parameters/file.ts';
import { runningTextParameters } from './parameters/running-text.ts';

/** Millimeters of a side of paper. PDF readers support at most 200 inches. */
const SIDE = { min: 10, max: 5080 } as const;

const margin = (names: readonly string[], side: string) =>
  length(names, {
    min: 0,
    max: 500,
    meaning: `${side} margin. By default, as in the page's \`@page\` rule, or 10 mm`,
  });

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
    ...runningTextParameters,
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
    ...contentsParameters,
    ...fileParameters,
    tagged: flag('--tagged', {
      default: true,
      off: '--no-tagged',
      meaning: 'add the structure that screen readers use, unless the page has more than 8000 table rows',
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
    '--no-pdf-compression',
    '--resolve-relative-links',
    '--keep-relative-links',
    '--enable-forms',
    '--disable-forms',
    '--enable-toc-back-links',
    '--disable-toc-back-links',
    '--exclude-from-outline',
    '--include-in-outline',
    '--toc-level-indentation',
    '--toc-text-size-shrink',
  ],
  refused: [...refusedPageNames, '--xsl-style-sheet', '--dump-outline'],
  sizing: { memory: 2048, layers: ['chromium', 'fonts', 'pdf'] },
  *validate(options) {
    yield* checkPageSelection({ ...options, pages: options.pageRanges }, '--page-ranges');
    yield* checkMargins(layoutOf(options, { header: false, footer: false }));
  },
});

export type Html2pdfOptions = OptionsOf<typeof html2pdf>;
