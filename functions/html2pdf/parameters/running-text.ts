import { flag, integer, list, number, parameter, text } from '../../shared/options/parameters.ts';

const words = (name: string, place: string) =>
  text(name, {
    max: 500,
    meaning: `text ${place}, with these placeholders in any case: \`[page]\`, \`[frompage]\`, \`[topage]\`, \`[title]\`, \`[section]\`, \`[subsection]\`, \`[webpage]\`, \`[date]\`, \`[isodate]\`, \`[time]\``,
  });

const html = (name: string, place: string) =>
  text(name, {
    max: 100_000,
    meaning: `HTML ${place}, or its URL. Chromium fills in the classes \`pageNumber\`, \`totalPages\`, \`title\`, \`url\` and \`date\`, and wkhtmltopdf's \`page\`, \`topage\`, \`section\` and \`subsection\`. Scripts do not run, and images must be data URLs`,
  });

/** Reads `name,value` or `name:value`. */
export function readPair(value: string): { name: string; value: string } | undefined {
  const match = /^([\w-]{1,50})[,:](.{0,500})$/.exec(value);
  return match ? { name: match[1]!, value: match[2]! } : undefined;
}

/** Headers and footers. */
export const runningTextParameters = {
  defaultHeader: flag('--default-header', {
    meaning:
      'header with the URL at the left, `[page]/[topage]` at the right and a line, and a top margin of 20 mm',
  }),
  headerLeft: words('--header-left', 'at the top left'),
  headerCenter: words('--header-center', 'at the top center'),
  headerRight: words('--header-right', 'at the top right'),
  headerLine: flag('--header-line', { off: '--no-header-line', meaning: 'draw a line below the header' }),
  headerFontName: text('--header-font-name', {
    max: 100,
    default: 'Arial',
    meaning: 'font of the header texts',
  }),
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
  footerFontName: text('--footer-font-name', {
    max: 100,
    default: 'Arial',
    meaning: 'font of the footer texts',
  }),
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
  headerHtml: html('--header-html', 'for the top margin'),
  footerHtml: html('--footer-html', 'for the bottom margin'),
  replacements: list(
    parameter('--replace', 'name,value', readPair, {
      meaning: 'value for a placeholder `[name]` in header and footer texts. Can be given more than once',
    }),
  ),
  pageOffset: integer('--page-offset', {
    min: -100_000,
    max: 100_000,
    default: 0,
    meaning: 'number to add to the page numbers in headers and footers',
  }),
} as const;
