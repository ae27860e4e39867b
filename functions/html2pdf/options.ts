import { credentialOptions, pageOptions, waitOptions } from '../engines/chromium/page-options.ts';
import { ACCESSIBLE, encryptionOptions, STANDARDS } from '../engines/pdf/finish-options.ts';
import { pageRangeOptions } from '../engines/pdf/options.ts';
import {
  category,
  choice,
  flag,
  integer,
  length,
  lengthRule,
  number,
  type Option,
  option,
  pageList,
  parseLength,
  readUrlOrFile,
  repeatable,
  size,
  sourceUrl,
  text,
  textOrSource,
  type ValuesOf,
} from '../shared/options/option.ts';
import { defaultsOf } from '../shared/options/read-options.ts';
import { PAPER_NAMES } from '../shared/paper.ts';

/** Bounds of a paper side in millimeters. PDF readers support at most 200 inches. */
const SIDE = { min: 10, max: 5080 } as const;

const margin = (names: readonly string[], side: string) =>
  length(names, {
    min: 0,
    max: 500,
    description: `Set the ${side} margin. By default, as in the page's \`@page\` rule, or 10 mm`,
  });

const pageHeight = option(
  '--page-height',
  `auto, or ${lengthRule(SIDE)}`,
  (value) => (value.toLowerCase() === 'auto' ? 'auto' : parseLength(value, SIDE)),
  {
    description:
      'Set the height of the paper. Overrides `--page-size`. `auto` makes one page as tall as the content',
  },
);

const words = (name: string, description: string) => text(name, { max: 500, description });

const PLACEHOLDERS = 'Placeholders as for `--header-left`';

const line = (name: string, off: string, place: string) =>
  flag(name, { off, description: `Draw a line ${place}` });

/** Has no default, so that `--no-header-line` overrides `--default-header`. */
const headerLine: Option<boolean | undefined> = {
  ...line('--header-line', '--no-header-line', 'below the header'),
  default: undefined,
};

const fontName = (name: string, texts: readonly string[], what: string) =>
  text(name, { max: 100, default: 'Arial', with: texts, description: `Print ${what} in this font` });

const fontSize = (name: string, texts: readonly string[], what: string) =>
  number(name, {
    min: 4,
    max: 72,
    default: 12,
    with: texts,
    description: `Print ${what} in this size, in points`,
  });

const spacing = (name: string, parts: readonly string[], what: string) =>
  number(name, {
    min: 0,
    max: 100,
    default: 0,
    with: parts,
    description: `Leave this distance between ${what}, in millimeters`,
  });

/** Reads HTML. Rejects URLs that are not http or https, because they would be printed as text. */
function markup(value: string): string | undefined {
  if (/^\s*(https?:\/\/|[a-z][a-z\d+.-]*:\S+\s*$)/i.test(value)) return readUrlOrFile(value.trim());
  return value === '' ? undefined : value;
}

const html = (name: string, description: string) =>
  textOrSource(option(name, 'HTML, or an http or https URL', markup, { description }));

/** Maximum characters of a value with its name. */
const MAX_PAIR = 551;

/** Reads `name,value` or `name:value`. */
function readPair(value: string): { name: string; value: string } | undefined {
  const match = /^([\w-]{1,50})[,:](.{0,500})$/.exec(value);
  return match ? { name: match[1]!, value: match[2]! } : undefined;
}

const INFORMATION = ['Title', 'Author', 'Subject', 'Keywords', 'Creator', 'Producer'] as const;

function information(value: string) {
  const read = readPair(value);
  const name = INFORMATION.find((known) => known.toLowerCase() === read?.name.toLowerCase());
  return read && name ? { name, value: read.value } : undefined;
}

const VERSIONS = ['1.4', '1.5', '1.6', '1.7', '2.0', ...STANDARDS, ACCESSIBLE] as const;

const PERMISSIONS = ['print', 'copy', 'modify', 'annotate', 'fill', 'assemble', 'none'] as const;

/** Reads a comma-separated list. */
function permissions(value: string): readonly (typeof PERMISSIONS)[number][] | undefined {
  const names = value.toLowerCase().split(',');
  const read = names.map((name) => PERMISSIONS.find((known) => known === name.trim()));
  return read.every((name) => name !== undefined) ? read : undefined;
}

const PLACES = ['Left', 'Center', 'Right'] as const;
const textsOf = (edge: string) =>
  ['', 'First', 'Even'].flatMap((pages) => PLACES.map((place) => `${edge}${pages}${place}`));
const htmlOf = (edge: string) => ['', 'First', 'Even'].map((pages) => `${edge}${pages}Html`);
const HEADER = [...textsOf('header'), 'defaultHeader'];
const FOOTER = textsOf('footer');
const RUNNING = [...HEADER, ...htmlOf('header'), ...FOOTER, ...htmlOf('footer')];

/** Leaves a header or footer out of the first page, as on a letter. */
const onFirst = (edge: string, texts: readonly string[]) =>
  flag(`--${edge}-first`, {
    off: `--no-${edge}-first`,
    default: true,
    with: texts,
    description: `Print the ${edge} on the first page, too`,
  });

/** Options that a cover shares with the page. */
const sharedOptions = {
  ...category('Paper', {
    pageSize: choice(['-s', '--page-size'], PAPER_NAMES, {
      description:
        "Set the size of the paper. By default, as in the page's `@page` rule, or A4. `--page-width` and `--page-height` override it",
    }),
    pageWidth: length('--page-width', {
      ...SIDE,
      description: 'Set the width of the paper. Overrides `--page-size`',
    }),
    pageHeight,
    orientation: choice(['-O', '--orientation'], ['Portrait', 'Landscape'], {
      description: "Set the orientation of the paper. By default, as in the page's `@page` rule, or Portrait",
    }),
    preferCssPageSize: flag('--prefer-css-page-size', {
      default: true,
      off: '--no-prefer-css-page-size',
      description: "Use the size and margins in the page's `@page` rules, unless an option sets them",
    }),
    marginTop: margin(['-T', '--margin-top'], 'top'),
    marginBottom: margin(['-B', '--margin-bottom'], 'bottom'),
    marginLeft: margin(['-L', '--margin-left'], 'left'),
    marginRight: margin(['-R', '--margin-right'], 'right'),
  }),
  ...category('Content', {
    zoom: number('--zoom', { min: 0.1, max: 2, default: 1, description: 'Scale the content' }),
    shrink: flag('--enable-smart-shrinking', {
      default: true,
      off: '--disable-smart-shrinking',
      description: 'Shrink content that is wider than the paper, down to two thirds of its size',
    }),
    background: flag('--background', {
      default: true,
      off: '--no-background',
      description: 'Print backgrounds',
    }),
    grayscale: flag(['-g', '--grayscale'], { description: 'Print in grayscale' }),
    viewport: size('--viewport-size', {
      min: 1,
      max: 16_384,
      description:
        'Set the size of the window in CSS pixels. A window wider than the paper is scaled down to it. By default, the window is as large as the printable area',
    }),
    externalLinks: flag('--enable-external-links', {
      default: true,
      off: '--disable-external-links',
      description: 'Keep links to other pages',
    }),
    internalLinks: flag('--enable-internal-links', {
      default: true,
      off: '--disable-internal-links',
      description: 'Keep links within the page',
    }),
  }),
  ...pageOptions,
  ...category('File', {
    outline: flag('--outline', {
      default: true,
      off: '--no-outline',
      description: 'Add bookmarks for headings',
    }),
    outlineDepth: integer('--outline-depth', {
      min: 1,
      max: 6,
      with: ['outline', 'toc'],
      description: 'Add bookmarks only for headings down to this level',
    }),
    tagged: flag('--tagged', {
      default: true,
      off: '--no-tagged',
      description: 'Add the structure that screen readers use, unless the page has more than 8000 table rows',
    }),
  }),
} as const;

/** Options of the document as a whole, none of which apply to a cover. */
const documentOptions = {
  ...category('Headers and footers', {
    defaultHeader: flag('--default-header', {
      description:
        'Print the URL at the top left, `[page]/[topage]` at the top right and a line, with a top margin of 20 mm',
    }),
    headerLeft: words(
      '--header-left',
      'Print this text at the top left. Case-insensitive placeholders: `[page]`, `[frompage]`, `[topage]`, `[title]`, `[section]`, `[subsection]`, `[webpage]`, `[date]`, `[isodate]`, `[time]`',
    ),
    headerCenter: words('--header-center', `Print this text at the top center. ${PLACEHOLDERS}`),
    headerRight: words('--header-right', `Print this text at the top right. ${PLACEHOLDERS}`),
    headerLine,
    headerFontName: fontName('--header-font-name', HEADER, 'header texts'),
    headerFontSize: fontSize('--header-font-size', HEADER, 'header texts'),
    headerSpacing: spacing('--header-spacing', [...HEADER, 'headerLine'], 'header and content'),
    footerLeft: words('--footer-left', `Print this text at the bottom left. ${PLACEHOLDERS}`),
    footerCenter: words('--footer-center', `Print this text at the bottom center. ${PLACEHOLDERS}`),
    footerRight: words('--footer-right', `Print this text at the bottom right. ${PLACEHOLDERS}`),
    footerLine: line('--footer-line', '--no-footer-line', 'above the footer'),
    footerFontName: fontName('--footer-font-name', FOOTER, 'footer texts'),
    footerFontSize: fontSize('--footer-font-size', FOOTER, 'footer texts'),
    footerSpacing: spacing('--footer-spacing', [...FOOTER, 'footerLine'], 'content and footer'),
    headerHtml: html(
      '--header-html',
      "Print this HTML, or the HTML at this URL, in the top margin. Chromium fills in the classes `pageNumber`, `totalPages`, `title`, `url` and `date`, and wkhtmltopdf's `page`, `topage`, `section` and `subsection`. Scripts do not run. Pictures and style sheets are loaded, relative to its URL",
    ),
    footerHtml: html('--footer-html', 'Like `--header-html`, in the bottom margin'),
    headerFirst: onFirst('header', [...HEADER, 'headerLine', 'headerHtml']),
    headerFirstLeft: words(
      '--header-first-left',
      'Like `--header-left`, in a separate header for the first page',
    ),
    headerFirstCenter: words(
      '--header-first-center',
      'Like `--header-center`, in a separate header for the first page',
    ),
    headerFirstRight: words(
      '--header-first-right',
      'Like `--header-right`, in a separate header for the first page',
    ),
    headerFirstHtml: html(
      '--header-first-html',
      'Like `--header-html`, in a separate header for the first page',
    ),
    headerEvenLeft: words('--header-even-left', 'Like `--header-left`, in a separate header for even pages'),
    headerEvenCenter: words(
      '--header-even-center',
      'Like `--header-center`, in a separate header for even pages',
    ),
    headerEvenRight: words(
      '--header-even-right',
      'Like `--header-right`, in a separate header for even pages',
    ),
    headerEvenHtml: html('--header-even-html', 'Like `--header-html`, in a separate header for even pages'),
    footerFirst: onFirst('footer', [...FOOTER, 'footerLine', 'footerHtml']),
    footerFirstLeft: words(
      '--footer-first-left',
      'Like `--footer-left`, in a separate footer for the first page',
    ),
    footerFirstCenter: words(
      '--footer-first-center',
      'Like `--footer-center`, in a separate footer for the first page',
    ),
    footerFirstRight: words(
      '--footer-first-right',
      'Like `--footer-right`, in a separate footer for the first page',
    ),
    footerFirstHtml: html(
      '--footer-first-html',
      'Like `--footer-html`, in a separate footer for the first page',
    ),
    footerEvenLeft: words('--footer-even-left', 'Like `--footer-left`, in a separate footer for even pages'),
    footerEvenCenter: words(
      '--footer-even-center',
      'Like `--footer-center`, in a separate footer for even pages',
    ),
    footerEvenRight: words(
      '--footer-even-right',
      'Like `--footer-right`, in a separate footer for even pages',
    ),
    footerEvenHtml: html('--footer-even-html', 'Like `--footer-html`, in a separate footer for even pages'),
    replacements: repeatable(
      option('--replace', 'name,value', readPair, {
        words: 'pair',
        maxLength: MAX_PAIR,
        with: RUNNING,
        description: 'Replace the placeholder `[name]` in headers and footers. Repeatable',
      }),
    ),
    pageOffset: integer('--page-offset', {
      min: -100_000,
      max: 100_000,
      default: 0,
      with: RUNNING,
      description: 'Add this number to the page numbers in headers and footers',
    }),
  }),
  ...category('Pages', {
    pageRanges: pageList('--page-ranges', { description: 'Keep only these pages of the PDF' }),
    ...pageRangeOptions,
    cover: sourceUrl(['--cover', 'cover'], {
      description: 'Print the page at this URL before all others, without header, footer and page number',
    }),
  }),
  ...category('Table of contents', {
    toc: flag(['--toc', 'toc'], {
      description: 'Start with a table of contents of the headings down to `--outline-depth`',
    }),
    tocHeading: text('--toc-header-text', {
      max: 200,
      default: 'Table of Contents',
      with: ['toc'],
      description: 'Put this heading above the table of contents',
    }),
    tocDots: flag('--enable-dotted-lines', {
      default: true,
      off: '--disable-dotted-lines',
      with: ['toc'],
      description: 'Draw dotted lines in the table of contents',
    }),
    tocLinks: flag('--enable-toc-links', {
      default: true,
      off: '--disable-toc-links',
      with: ['toc'],
      description: 'Link the table of contents to the headings',
    }),
  }),
  ...category('File', {
    title: text('--title', { max: 500, description: 'Set the title of the document' }),
    metadata: repeatable(
      option('--metadata', `name:value, where name is one of ${INFORMATION.join(', ')}`, information, {
        maxLength: MAX_PAIR,
        description: 'Set an entry of the document information. Repeatable',
      }),
    ),
    pdfVersion: option(
      '--pdf-version',
      `one of ${VERSIONS.join(', ')}`,
      (value: string) => VERSIONS.find((known) => known === value),
      {
        description:
          'Write at least this version of PDF, or follow this standard for archives (PDF/A) or accessible documents (PDF/UA). PDF/A-1b does not allow transparency',
        schema: { enum: VERSIONS },
      },
    ),
    force: flag('--force', {
      description: 'If the PDF cannot follow the standard of `--pdf-version`, write it without',
    }),
    imageQuality: integer('--image-quality', {
      min: 1,
      max: 100,
      description:
        'Recompress images that are not JPEGs as JPEG with this quality, if that makes them smaller. By default, images are not recompressed',
    }),
    lowQuality: flag('--lowquality', { description: 'Same as `--image-quality=40`' }),
  }),
  ...category('Encryption', {
    ...encryptionOptions,
    permissions: option('--permissions', `a comma-separated list of ${PERMISSIONS.join(', ')}`, permissions, {
      protects: true,
      description:
        'Allow only these uses of the PDF, for example `print,copy`. `modify` includes `annotate`, which includes `fill`, which includes `assemble`. Overrides `--allow-print`, `--allow-modify` and `--allow-copy`',
    }),
  }),
} as const;

export const html2pdfOptions = { ...sharedOptions, ...documentOptions } as const;

export type Html2pdfOptions = ValuesOf<typeof html2pdfOptions>;

/** Returns the options for a cover: those that it shares with the page, and defaults for all others. */
export function coverOptions(options: Html2pdfOptions, page: URL, cover: URL): Html2pdfOptions {
  return {
    ...options,
    ...defaultsOf({ ...documentOptions, ...waitOptions }),
    ...(page.origin === cover.origin ? {} : defaultsOf(credentialOptions)),
  };
}
