import { INPUTS, readInput } from '../engines/office/inputs.ts';
import { EDITABLE, type Editable } from '../engines/office/outputs.ts';
import { encryptionParameters } from '../engines/pdf/qpdf/encryption.ts';
import { checkPageSelection } from '../shared/options/page-selection.ts';
import { choice, flag, integer, pageList, parameter, text } from '../shared/options/parameters.ts';
import { defineTool } from '../shared/tool.ts';
import { checkRules } from './rules.ts';
import { ENCODINGS } from './save-options.ts';

const PIXELS = { min: 1, max: 16_384 } as const;
const TITLE = { max: 500 } as const;

const SEPARATORS: Readonly<Record<string, string>> = { tab: '\t', space: ' ', '\\t': '\t' };

/** One character other than a letter, a digit or a quote, or its name. */
function separator(value: string): string | undefined {
  const character = SEPARATORS[value.toLowerCase()] ?? value;
  return /^[\t !#-&(-/:-@[-`{-~]$/.test(character) ? character : undefined;
}

/** An encoding label of the WHATWG Encoding Standard. */
function encoding(value: string): string | undefined {
  try {
    return new TextDecoder(value).encoding;
  } catch {
    return undefined;
  }
}

function color(value: string): number | undefined {
  return /^#?[0-9a-f]{6}$/i.test(value) ? Number.parseInt(value.replace('#', ''), 16) : undefined;
}

/** Office documents to PDF and images. The names are those of LibreOffice's PDF export. */
export const doc2any = defineTool({
  name: 'doc2any',
  summary:
    'Converts Word, Excel, PowerPoint, OpenDocument, RTF, HTML and text files to PDF, to images of their pages, or to other document formats.',
  source: 'file',
  formats: ['pdf', 'jpg', 'png', ...(Object.keys(EDITABLE) as Editable[])],
  paged: ['jpg', 'png'],
  parameters: {
    kind: parameter(
      'in_ext',
      `one of ${Object.keys(INPUTS)
        .map((kind) => `.${kind}`)
        .join(', ')}`,
      readInput,
      {
        meaning: 'format of the source; ignored if its content says otherwise',
      },
    ),
    encoding: parameter('--encoding', 'an encoding like utf-8, windows-1251 or shift_jis', encoding, {
      meaning: 'character encoding of txt, csv and tsv; detected by default',
    }),
    separator: parameter('--separator', "'tab', 'space' or one punctuation character", separator, {
      meaning: 'cell separator of csv; detected by default',
    }),
    outputSeparator: parameter(
      '--output-separator',
      "'tab', 'space' or one punctuation character",
      separator,
      {
        meaning: 'csv output: cell separator; a comma by default',
      },
    ),
    outputEncoding: choice('--output-encoding', Object.keys(ENCODINGS) as (keyof typeof ENCODINGS)[], {
      meaning: 'csv output: character encoding; utf-8 by default',
    }),
    sheet: integer('--sheet', {
      min: 1,
      max: 10_000,
      meaning: 'csv output: number of the sheet; the first by default',
    }),
    firstPage: integer('-f', { min: 0, max: 100_000, meaning: 'first page, from 1; 0 is the first' }),
    lastPage: integer('-l', {
      min: 0,
      max: 100_000,
      meaning: 'last page; 0 or a page past the end is the last',
    }),
    pages: pageList('--pages', { meaning: 'list of pages, instead of `-f` and `-l`' }),
    password: text('--password', { max: 255, meaning: 'password of the source' }),
    landscape: flag('--landscape', { meaning: 'landscape pages, for text documents and spreadsheets' }),
    fit: choice('--fit', ['width', 'sheet'], {
      meaning:
        'for spreadsheets: `width` fits all columns on one page, `sheet` makes one page of each sheet that is neither empty nor hidden',
    }),
    changes: choice('--changes', ['show', 'accept', 'reject'], {
      meaning: 'tracked changes: shown, accepted or rejected; by default as set in the document',
    }),
    pdfVersion: choice(
      '--pdf-version',
      ['1.5', '1.6', '1.7', '2.0', 'PDF/A-1b', 'PDF/A-2b', 'PDF/A-3b', 'PDF/UA'],
      { default: '1.7' as const, meaning: 'version of the PDF, or the standard it conforms to' },
    ),
    tagged: flag('--tagged', {
      meaning: 'tagged PDF, for screen readers; always on for PDF/UA and PDF/A-1b',
    }),
    quality: integer('--quality', {
      min: 1,
      max: 100,
      default: 90,
      meaning: 'JPEG quality of images in the PDF, and of jpg output',
    }),
    lossless: flag('--lossless', { meaning: 'stores images in the PDF without JPEG compression' }),
    // LibreOffice ignores resolutions up to 50.
    imageResolution: integer('--image-dpi', {
      min: 51,
      max: 1200,
      default: 300,
      meaning: 'maximum resolution of images in the PDF, in DPI',
    }),
    notes: flag('--notes', { meaning: 'presentations: adds a notes page for each slide' }),
    hiddenSlides: flag('--hidden-slides', { meaning: 'presentations: includes hidden slides' }),
    bookmarks: flag('--bookmarks', {
      default: true,
      off: '--no-bookmarks',
      meaning: 'exports headings as bookmarks of the PDF',
    }),
    forms: flag('--forms', { default: true, off: '--no-forms', meaning: 'keeps form fields editable' }),
    comments: flag('--comments', { meaning: 'exports comments as PDF notes' }),
    ...encryptionParameters,
    title: text('--title', { ...TITLE, meaning: 'title in the properties of the PDF' }),
    author: text('--author', { ...TITLE, meaning: 'author in the properties of the PDF' }),
    subject: text('--subject', { ...TITLE, meaning: 'subject in the properties of the PDF' }),
    keywords: text('--keywords', { ...TITLE, meaning: 'keywords in the properties of the PDF' }),
    watermark: text('--watermark', { max: 100, meaning: 'text across every page' }),
    watermarkColor: parameter('--watermark-color', 'a color like #7f7f7f', color, {
      meaning: 'color of the watermark; light green by default',
    }),
    watermarkAngle: integer('--watermark-angle', {
      min: 0,
      max: 359,
      meaning: 'angle of the watermark in degrees; along the longer side of the page by default',
    }),
    resolution: integer('-r', {
      min: 10,
      max: 1200,
      default: 150,
      meaning: 'image output: resolution in DPI',
    }),
    width: integer('-width', { ...PIXELS, meaning: 'image output: page width in pixels; overrides `-r`' }),
    height: integer('-height', { ...PIXELS, meaning: 'image output: page height in pixels; overrides `-r`' }),
  },
  ignored: ['--headless', '--norestore', '--nologo', '--invisible', '--convert-to'],
  refused: ['--outdir', '--infilter', '--accept', '-env', '--script-cat'],
  sizing: { memory: 3008, layers: ['libreoffice', 'pdf', 'fonts', 'sandbox'] },
  *validate(options, format) {
    yield* checkPageSelection(options, '--pages');
    yield* checkRules(options, format);
  },
});
