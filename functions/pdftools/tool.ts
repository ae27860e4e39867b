import { checkFinish, encryptionOf, encryptionOptionsWith } from '../engines/pdf/finish-options.ts';
import { NOT_EDITABLE, PAGE_IMAGES, pdfOptions } from '../engines/pdf/options.ts';
import { optimize, rotations, toolboxOptions } from '../engines/pdf/toolbox/options.ts';
import { ConversionError } from '../shared/errors.ts';
import { category, flag, text } from '../shared/options/option.ts';
import { checkPageSelection } from '../shared/options/page-selection.ts';
import { defineTool } from '../shared/tool.ts';

/** Options of pdftoppm and pdf2img that have no effect here. */
const IGNORED: readonly string[] = (
  '-aa -aaVector -freetype -thinlinemode -overprint -progress -forcenum -singlefile -q -sep -jpeg ' +
  '-png -tiff -tiffcompression -jpegopt -decrypt'
).split(' ');

/** Maximum number of documents to append, and of files to attach. */
const MAX_SOURCES = 50;

/** Formats of documents that people ask to make of a PDF. */
const EDITABLE = ['docx', 'xlsx', 'pptx', 'odt', 'ods', 'odp', 'rtf', 'html', 'csv'] as const;

const {
  encrypt,
  ownerPassword: newOwnerPassword,
  print,
  modify,
  copy,
} = encryptionOptionsWith((name) => [`-${name}`, `--${name}`]);

const options = {
  ...pdfOptions,
  ...category('Appearance', { rotations }),
  ...toolboxOptions,
  ...category(
    'Attached files',
    {
      attachments: flag('-attachments', { description: 'Write an archive of the attached files' }),
    },
    { outputs: ['zip'] },
  ),
  ...category(
    'Writing a PDF',
    {
      optimize,
      linearize: flag('-linearize', {
        description: 'Order the file so that viewers can show the first page before the rest has arrived',
      }),
    },
    { outputs: ['pdf'] },
  ),
  ...category(
    'Signature',
    {
      sign: text('-sign', {
        max: 50,
        pattern: /^[\w-]+$/,
        description: 'Sign the PDF in the name of this signer of the service, as the last step',
      }),
    },
    { outputs: ['pdf'], protects: true },
  ),
  ...category(
    'Signature',
    {
      signReason: text('-sign-reason', {
        max: 200,
        with: ['sign'],
        description: 'State this reason with the signature',
      }),
      signPlace: text('-sign-place', {
        max: 200,
        with: ['sign'],
        description: 'State this place with the signature',
      }),
    },
    { outputs: ['pdf'] },
  ),
  ...category('Encryption', { encrypt, newOwnerPassword, print, modify, copy }),
} as const;

/** Converts PDF pages. The option names are those of pdftoppm and VeryPDF's pdf2img. */
export const pdftools = defineTool({
  name: 'pdftools',
  summary: 'Converts PDF pages to images or text, merges, changes and describes PDFs.',
  source: 'file',
  formats: [...PAGE_IMAGES, 'pdf', 'txt', 'json', 'zip'],
  paged: [...PAGE_IMAGES, 'pdf', 'txt'],
  options,
  common: ['-f', '-l', '-r', '-width', '-height', '-quality'],
  ignored: IGNORED,
  refused: ['-defaultgrayprofile', '-defaultrgbprofile', '-defaultcmykprofile', '-displayprofile'],
  unwritten: Object.fromEntries(EDITABLE.map((format) => [format, NOT_EDITABLE])),
  sizing: { memory: 3008, layers: ['pdf', 'pdfjs', 'image', 'fonts', 'sandbox'] },
  example: {
    infile: 'report.pdf',
    outfile: 'page.png',
    options: { '-r': '100' },
    url: 'https://www.w3.org/WAI/ER/tests/xhtml/testfiles/resources/pdf/dummy.pdf',
    seconds: { warm: 0.5, start: 0.27 },
  },
  *validate(options, format) {
    yield* checkPageSelection(options);
    for (const name of ['append', 'attach'] as const) {
      const { length } = options[name];
      if (length <= MAX_SOURCES) continue;
      const message = `Parameter '-${name}' may be given at most ${MAX_SOURCES} times, got ${length}.`;
      yield new ConversionError('BAD_PARAMETER', message, { parameter: `-${name}` });
    }
    const encryption = encryptionOf({ ...options, ownerPassword: options.newOwnerPassword });
    yield* checkFinish({ ...options, ownerPassword: options.newOwnerPassword }, encryption);
    if (options.attach.length > 0 && options.pdfVersion && !options.pdfVersion.startsWith('PDF/A-3')) {
      const message = `Parameter '-attach': ${options.pdfVersion} does not allow attached files. Use PDF/A-3b.`;
      yield new ConversionError('BAD_PARAMETER', message, { parameter: '-attach' });
    }
    if (format === 'zip' && !options.attachments) {
      const message =
        "Parameter 'outfile': an archive of attached files requires -attachments. One of pages is named pages.jpg.zip.";
      yield new ConversionError('BAD_PARAMETER', message, { parameter: 'outfile' });
    }
    if (options.sign !== undefined && encryption !== undefined) {
      const message = "Parameter '-sign' cannot be combined with encryption.";
      yield new ConversionError('BAD_PARAMETER', message, { parameter: '-sign' });
    }
    if (options.odd && options.even) {
      yield new ConversionError('BAD_PARAMETER', "Parameter '-o' cannot be combined with '-e'.", {
        parameter: '-o',
      });
    }
    if (options.transparent && format === 'jpg') {
      yield new ConversionError('BAD_PARAMETER', "Parameter '-transp': JPEG does not support transparency.", {
        parameter: '-transp',
      });
    }
  },
});
