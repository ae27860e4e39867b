import { ConversionError } from '../shared/errors.ts';
import { checkPageSelection } from '../shared/options/page-selection.ts';
import { choice, flag, integer, pageList, parameter, text } from '../shared/options/parameters.ts';
import { defineTool } from '../shared/tool.ts';

/** What a source may be; its bytes decide, except between the two kinds of plain text. */
export const KINDS = [
  'doc',
  'xls',
  'ppt',
  'docx',
  'xlsx',
  'pptx',
  'rtf',
  'odt',
  'ods',
  'odp',
  'csv',
  'txt',
] as const;

export type Kind = (typeof KINDS)[number];

function extension(value: string): Kind | undefined {
  const bare = value.replace(/^\./, '').toLowerCase();
  return KINDS.find((kind) => kind === bare);
}

/** Office documents to PDF, and on to images; the names are those of LibreOffice's PDF export. */
export const doc2any = defineTool({
  name: 'doc2any',
  summary: `Office documents (${KINDS.join(', ')}) as PDF or as images of their pages.`,
  source: 'file',
  formats: ['pdf', 'jpg', 'png'],
  paged: ['jpg', 'png'],
  parameters: {
    kind: parameter('in_ext', `one of ${KINDS.map((kind) => `.${kind}`).join(', ')}`, extension, {
      meaning: 'what the source is; where its bytes say otherwise, they win',
    }),
    firstPage: integer('-f', { min: 0, max: 100_000, meaning: 'first page, from 1; 0 is the first' }),
    lastPage: integer('-l', { min: 0, max: 100_000, meaning: 'last page; 0, and past the end, is the last' }),
    pages: pageList('--pages', { meaning: 'pages as a list, instead of `-f` and `-l`' }),
    password: text('--password', { max: 255, meaning: 'password that opens the source' }),
    landscape: flag('--landscape', { meaning: 'pages of texts and sheets lie on their long side' }),
    fit: choice('--fit', ['width', 'sheet'], {
      meaning: "sheets: `width`, all columns on one page's width; `sheet`, one page a sheet",
    }),
    pdfVersion: choice(
      '--pdf-version',
      ['1.5', '1.6', '1.7', '2.0', 'PDF/A-1b', 'PDF/A-2b', 'PDF/A-3b', 'PDF/UA'],
      {
        default: '1.7' as const,
        meaning: 'version or standard of the PDF',
      },
    ),
    quality: integer('--quality', {
      min: 1,
      max: 100,
      default: 90,
      meaning: 'JPEG quality of pictures, and of a jpg',
    }),
    imageResolution: integer('--image-dpi', {
      min: 36,
      max: 1200,
      default: 300,
      meaning: 'resolution that pictures in the PDF are reduced to',
    }),
    notes: flag('--notes', { meaning: 'slides: a page of notes after each' }),
    hiddenSlides: flag('--hidden-slides', { meaning: 'slides: the hidden ones too' }),
    bookmarks: flag('--bookmarks', {
      default: true,
      off: '--no-bookmarks',
      meaning: 'headings as bookmarks of the PDF',
    }),
    forms: flag('--forms', {
      default: true,
      off: '--no-forms',
      meaning: 'form fields that can be filled in',
    }),
    comments: flag('--comments', { meaning: 'comments as notes of the PDF' }),
    encrypt: text('--encrypt', { max: 32, meaning: 'password that will open the PDF' }),
    watermark: text('--watermark', { max: 100, meaning: 'text across every page' }),
    resolution: integer('-r', { min: 10, max: 1200, default: 150, meaning: 'images: resolution in DPI' }),
    width: integer('-width', {
      min: 1,
      max: 16_384,
      meaning: 'images: width of a page in pixels; wins over `-r`',
    }),
    height: integer('-height', {
      min: 1,
      max: 16_384,
      meaning: 'images: height of a page in pixels; wins over `-r`',
    }),
  },
  ignored: ['--headless', '--norestore', '--nologo', '--invisible', '--convert-to'],
  refused: ['--outdir', '--infilter', '--accept', '-env', '--script-cat'],
  sizing: { memory: 3008, layers: ['libreoffice', 'sandbox', 'image', 'pdfjs', 'fonts'] },
  *validate(options, format) {
    yield* checkPageSelection(options, '--pages');
    const { firstPage, lastPage, pages, notes, fit } = options;
    const selected = firstPage !== undefined || lastPage !== undefined || pages !== undefined;
    // LibreOffice's page ranges do not count the pages that these options produce.
    const name = notes ? '--notes' : fit === 'sheet' ? '--fit=sheet' : undefined;
    if (format === 'pdf' && selected && name) {
      const message = `Parameter '${name}' cannot be combined with '-f', '-l' or '--pages' for pdf output.`;
      yield new ConversionError('BAD_PARAMETER', message);
    }
  },
});

export type Doc2anyTool = typeof doc2any;
