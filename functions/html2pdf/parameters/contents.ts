import { flag, integer, text } from '../../shared/options/parameters.ts';

/** Bookmarks, links, table of contents and cover. */
export const contentsParameters = {
  outline: flag('--outline', {
    default: true,
    off: '--no-outline',
    meaning: 'add bookmarks for the headings',
  }),
  outlineDepth: integer('--outline-depth', {
    min: 1,
    max: 6,
    meaning: 'deepest level of headings that get a bookmark',
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
  toc: flag(['--toc', 'toc'], {
    meaning: 'start with a table of contents of the headings down to `--outline-depth`',
  }),
  tocHeading: text('--toc-header-text', {
    max: 200,
    default: 'Table of Contents',
    meaning: 'heading of the table of contents',
  }),
  tocDots: flag('--enable-dotted-lines', {
    default: true,
    off: '--disable-dotted-lines',
    meaning: 'draw dotted lines in the table of contents',
  }),
  tocLinks: flag('--enable-toc-links', {
    default: true,
    off: '--disable-toc-links',
    meaning: 'link the table of contents to the headings',
  }),
  cover: text(['--cover', 'cover'], {
    pattern: /^https?:\/\//i,
    rule: 'an http or https URL',
    meaning: 'URL of a page to print before all others. It has no header or footer and no page number',
  }),
} as const;
