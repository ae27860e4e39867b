import { languageTag } from '../../shared/options/language-tag.ts';
import {
  category,
  choice,
  flag,
  integer,
  type Option,
  option,
  text,
  type ValuesOf,
} from '../../shared/options/option.ts';
import { integers } from '../../shared/options/page-selection.ts';
import type { Conversion, SourceFile } from '../../shared/tool.ts';
import { INPUTS, type Module, readInput } from './inputs.ts';
import { PRINTED, WITH_PAGES, WITH_PROPERTIES } from './outputs.ts';

const TITLE = { max: 500 } as const;

const SEPARATORS: Readonly<Record<string, string>> = { tab: '\t', space: ' ', '\\t': '\t' };

/** Reads a separator: one character other than a letter, a digit or a quote, or the name of one. */
function separator(value: string): string | undefined {
  const character = SEPARATORS[value.toLowerCase()] ?? value;
  return /^[\t !#-&(-/:-@[-`{-~]$/.test(character) ? character : undefined;
}

/** Maximum number of columns that are kept as text. */
const MAX_COLUMNS = 1024;

/** Reads columns such as `1,3-5`, and the words for all and for none. Returns their numbers. */
export function columns(value: string): readonly number[] | undefined {
  if (value === 'none') return [];
  const list = value === 'all' ? `1-${MAX_COLUMNS}` : value;
  if (!/^\d{1,4}(-\d{1,4})?(,\d{1,4}(-\d{1,4})?){0,50}$/.test(list)) return undefined;
  const numbers = list.split(',').flatMap((range) => {
    const [first = 0, last = first] = range.split('-').map(Number);
    return first <= last ? integers(first, last) : [0];
  });
  return numbers.every((number) => number >= 1 && number <= MAX_COLUMNS) ? numbers : undefined;
}

/** Reads an encoding label of the WHATWG Encoding Standard. */
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

/** Returns the kinds of source that one of these modules opens. */
function openedBy(...modules: readonly Module[]): string[] {
  return Object.entries(INPUTS)
    .filter(([, module]) => modules.includes(module))
    .map(([kind]) => kind);
}

/** All kinds of source except a PDF that another tool has made of an image. */
const DOCUMENTS = Object.keys(INPUTS);

/** LibreOffice's numbers of the encodings that csv can be written in, from its `rtl/textenc.h`. */
export const ENCODINGS = {
  'utf-8': 76,
  'utf-8-bom': 76,
  'utf-16': 65_535,
  'iso-8859-1': 12,
  'iso-8859-2': 13,
  'iso-8859-15': 22,
  'windows-1250': 33,
  'windows-1251': 34,
  'windows-1252': 1,
  'windows-1253': 35,
  'windows-1254': 36,
  'windows-1255': 37,
  'windows-1256': 38,
  'windows-1257': 39,
  'windows-1258': 40,
  'koi8-r': 74,
  shift_jis: 64,
  'euc-jp': 69,
  gb18030: 85,
  big5: 68,
  'euc-kr': 79,
} as const;

/** LibreOffice's numbers for versions and standards. */
const PDF_VERSIONS = {
  '1.5': 15,
  '1.6': 16,
  '1.7': 17,
  '2.0': 20,
  'PDF/A-1b': 1,
  'PDF/A-2b': 2,
  'PDF/A-2u': 2,
  'PDF/A-3b': 3,
  'PDF/A-3u': 3,
  // LibreOffice's PDF/A-4 is not needed, because all PDF/A is mended after it is written.
  'PDF/A-4': 2,
  'PDF/UA-1': 17,
  'PDF/UA': 17,
} as const;

/** Adds the property of LibreOffice's PDF export that an option sets; see `filter-options.ts`. */
function exported<O extends Option<unknown>>(
  option: O,
  properties: (
    value: Exclude<ReturnType<O['read']>, undefined>,
  ) => Readonly<Record<string, string | number | boolean>>,
): O {
  return { ...option, properties };
}

/** Options that LibreOffice understands. The names are those of its PDF export, in the style of its command line. */
export const officeOptions = {
  ...category('Source', {
    kind: option(
      'in_ext',
      `one of ${Object.keys(INPUTS)
        .map((kind) => `.${kind}`)
        .join(', ')}`,
      readInput,
      {
        ignores: (value) => readInput(value) === undefined,
        description:
          'Read the source in this format, unless its content is clearly in another format. Other extensions have no effect',
      },
    ),
    encoding: option('--encoding', 'an encoding such as utf-8, windows-1251 or shift_jis', encoding, {
      inputs: ['txt', 'csv', 'tsv'],
      description: 'Read text in this character encoding. By default, it is detected',
    }),
    separator: option('--separator', "'tab', 'space' or one punctuation character", separator, {
      inputs: ['csv', 'tsv'],
      description: 'Separate cells of csv at this character. By default, it is detected',
    }),
    textColumns: option('--text-columns', "'all', 'none' or columns such as 1,3-5", columns, {
      inputs: ['csv', 'tsv'],
      description:
        'Keep these columns of csv as text, for example numbers with leading zeros. The default is `all` for csv results, and `none` for others',
    }),
    locale: option('--locale', 'a language tag such as de-DE', languageTag, {
      description:
        'Write dates and numbers as in this language if the document does not declare its own, as workbooks of Excel do. By default, the setting of the service',
    }),
    password: text('--password', { max: 255, description: 'Open the source with this password' }),
    changes: choice('--changes', ['show', 'accept', 'reject'], {
      inputs: openedBy('writer'),
      description: 'Show, accept or reject tracked changes. By default, as set in the document',
    }),
  }),
  ...category(
    'Pages',
    {
      landscape: flag('--landscape', {
        outputs: WITH_PAGES,
        inputs: openedBy('writer', 'calc'),
        description: 'Turn pages to landscape',
      }),
      fit: choice('--fit', ['width', 'sheet'], {
        outputs: [...PRINTED, 'xlsx', 'ods'],
        inputs: openedBy('calc'),
        description:
          '`width` fits all columns of a spreadsheet on one page, `sheet` makes one page of each sheet that is neither empty nor hidden',
      }),
      notes: exported(
        flag('--notes', {
          inputs: openedBy('impress'),
          description: 'Add a page with the notes of each slide',
        }),
        (on) => ({ ExportNotesPages: on }),
      ),
      hiddenSlides: exported(
        flag('--hidden-slides', { inputs: openedBy('impress'), description: 'Include hidden slides' }),
        (on) => ({ ExportHiddenSlides: on }),
      ),
      comments: exported(
        flag('--comments', { inputs: DOCUMENTS, description: 'Include comments as notes of the PDF' }),
        (on) => ({
          ExportNotes: on,
        }),
      ),
    },
    { outputs: PRINTED },
  ),
  ...category('Watermark', {
    watermark: exported(
      text('--watermark', {
        max: 100,
        outputs: PRINTED,
        protects: true,
        description: 'Draw this text across every page',
      }),
      (words) => ({ Watermark: words }),
    ),
    watermarkColor: exported(
      option('--watermark-color', 'a color such as #7f7f7f', color, {
        outputs: PRINTED,
        with: ['watermark'],
        description: 'Draw the watermark in this color. The default is light green',
      }),
      (rgb) => ({ WatermarkColor: rgb }),
    ),
    watermarkAngle: exported(
      integer('--watermark-angle', {
        min: 0,
        max: 359,
        outputs: PRINTED,
        with: ['watermark'],
        description:
          'Draw the watermark at this angle in degrees. By default, along the longer side of the page',
      }),
      // In tenths of a degree.
      (degrees) => ({ WatermarkRotateAngle: degrees * 10 }),
    ),
  }),
  ...category('Properties', {
    title: text('--title', {
      ...TITLE,
      outputs: WITH_PROPERTIES,
      description: 'Set the title in the properties of the result',
    }),
    author: text('--author', {
      ...TITLE,
      outputs: WITH_PROPERTIES,
      description: 'Set the author in the properties of the result',
    }),
    subject: text('--subject', {
      ...TITLE,
      outputs: WITH_PROPERTIES,
      description: 'Set the subject in the properties of the result',
    }),
    keywords: text('--keywords', {
      ...TITLE,
      outputs: WITH_PROPERTIES,
      description: 'Set the keywords in the properties of the result',
    }),
  }),
  ...category(
    'PDF',
    {
      pdfVersion: exported(
        choice('--pdf-version', Object.keys(PDF_VERSIONS) as (keyof typeof PDF_VERSIONS)[], {
          default: '1.7',
          description:
            'Write this version of PDF, or conform to this standard. With PDF/UA, the response lists what keeps the PDF from it in `X-Warnings`',
        }),
        (version) => ({
          SelectPdfVersion: PDF_VERSIONS[version],
          PDFUACompliance: version.startsWith('PDF/UA'),
        }),
      ),
      tagged: exported(
        flag('--tagged', {
          inputs: DOCUMENTS,
          description: 'Add the structure that screen readers use. Always on for PDF/UA and PDF/A-1b',
        }),
        // A standard that requires tags sets them itself.
        (on): Readonly<Record<string, boolean>> => (on ? { UseTaggedPDF: true } : {}),
      ),
      lossless: exported(
        flag('--lossless', {
          outputs: PRINTED,
          inputs: DOCUMENTS,
          description: 'Store images without JPEG compression',
        }),
        (on) => ({
          UseLosslessCompression: on,
        }),
      ),
      quality: exported(
        integer('--quality', {
          min: 1,
          max: 100,
          default: 90,
          outputs: PRINTED,
          description: 'Set the JPEG quality of images in a PDF, and of JPEG results',
        }),
        (quality) => ({ Quality: quality }),
      ),
      // LibreOffice ignores resolutions up to 50.
      imageResolution: exported(
        integer('--image-dpi', {
          min: 51,
          max: 1200,
          default: 300,
          outputs: PRINTED,
          inputs: DOCUMENTS,
          description: 'Reduce images to this resolution in DPI',
        }),
        (dpi) => ({ MaxImageResolution: dpi }),
      ),
      bookmarks: exported(
        flag('--bookmarks', {
          default: true,
          off: '--no-bookmarks',
          inputs: DOCUMENTS,
          description: 'Add bookmarks for headings',
        }),
        (on) => ({ ExportBookmarks: on }),
      ),
      forms: exported(
        // Word prints content controls as text. Exported as fields, they would have other fonts, and long texts would
        // not fit.
        flag('--forms', {
          default: false,
          off: '--no-forms',
          outputs: PRINTED,
          inputs: DOCUMENTS,
          description: 'Make form fields and content controls editable',
        }),
        (on) => ({ ExportFormFields: on }),
      ),
    },
    { outputs: ['pdf'] },
  ),
  ...category(
    'Tables',
    {
      outputSeparator: option(
        '--output-separator',
        "'tab', 'space' or one punctuation character",
        separator,
        { description: 'Write this character between cells. The default is a comma' },
      ),
      outputEncoding: choice('--output-encoding', Object.keys(ENCODINGS) as (keyof typeof ENCODINGS)[], {
        outputs: ['csv', 'txt'],
        ignores: (value, format) => format === 'txt' && !/^utf-8/i.test(value),
        description: 'Write csv in this character encoding. The default is utf-8. Text is utf-8 or utf-8-bom',
      }),
      sheet: integer('--sheet', {
        min: 1,
        max: 10_000,
        description: 'Write the sheet with this number. The default is the first',
      }),
    },
    { outputs: ['csv'] },
  ),
} as const;

export type OfficeOptions = ValuesOf<typeof officeOptions>;
export type OfficeConversion = Conversion<OfficeOptions, SourceFile>;
