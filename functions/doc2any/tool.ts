import { INPUTS } from '../engines/office/inputs.ts';
import { officeOptions } from '../engines/office/options.ts';
import { EDITABLE, type Editable, moduleConflict, PRINTED, readEditable } from '../engines/office/outputs.ts';
import { checkFinish, encryptionOptions } from '../engines/pdf/finish-options.ts';
import { pageRangeOptions, sizeOptions } from '../engines/pdf/options.ts';
import { ConversionError } from '../shared/errors.ts';
import type { Format } from '../shared/formats.ts';
import { category, pageList, type ValuesOf } from '../shared/options/option.ts';
import { checkPageSelection } from '../shared/options/page-selection.ts';
import { defineTool } from '../shared/tool.ts';
import { expandConvertTo } from './convert-to.ts';

const options = {
  ...officeOptions,
  ...category(
    'Pages',
    {
      ...pageRangeOptions,
      pages: pageList('--pages', { description: 'Select these pages, instead of `-f` and `-l`' }),
    },
    // A caller relies on the other pages being left out.
    { outputs: PRINTED, protects: true },
  ),
  ...category('Encryption', encryptionOptions),
  ...category('Images', sizeOptions, { outputs: ['jpg', 'png'] }),
} as const;

export type Doc2anyOptions = ValuesOf<typeof options>;

/** Converts office documents. The option names are those of LibreOffice's PDF export. */
export const doc2any = defineTool({
  name: 'doc2any',
  summary:
    'Converts Word, Excel, PowerPoint, OpenDocument, RTF, HTML and text files to PDF, to images of their pages, or to other document formats, and images to PDF.',
  source: 'file',
  formats: [...PRINTED, ...(Object.keys(EDITABLE) as Editable[])],
  paged: ['jpg', 'png'],
  options,
  common: ['-f', '-l', '--password', '--fit', '--pdf-version', '--watermark'],
  ignored: ['--headless', '--norestore', '--nologo', '--invisible', '--convert-to'],
  refused: ['--outdir', '--infilter', '--accept', '-env', '--script-cat'],
  sizing: { memory: 3008, layers: ['libreoffice', 'pdf', 'fonts', 'sandbox'] },
  example: {
    infile: 'letter.docx',
    outfile: 'letter.pdf',
    url: 'https://www.w3.org/TR/PNG/iso_8859-1.txt',
    seconds: { warm: 1, start: 0.73 },
  },
  expand: (parameter, format) =>
    parameter.name === '--convert-to' ? expandConvertTo(parameter, format) : [parameter],
  *validate(options, format) {
    yield* checkPageSelection(options, '--pages');
    yield* checkFinish(options);
    yield* checkRules(options, format);
  },
});

/** Yields an error for each broken rule between options, or between an option and the output format. */
function* checkRules(options: Doc2anyOptions, format: Format | undefined): Iterable<ConversionError> {
  const { kind, fit, notes } = options;
  // LibreOffice's page ranges do not count the pages that these options produce.
  const uncounted = notes ? '--notes' : fit === 'sheet' ? '--fit=sheet' : undefined;
  if (format === 'pdf' && isSelecting(options) && uncounted) {
    yield parameterError(
      notes ? '--notes' : '--fit',
      `'${uncounted}' cannot be combined with '-f', '-l' or '--pages' for pdf output.`,
    );
  }
  const editable = readEditable(format);
  if (editable && fit === 'sheet')
    yield parameterError('--fit', `'--fit=sheet' cannot be combined with ${editable} output.`);
  const conflict = editable && kind && moduleConflict(INPUTS[kind], editable);
  if (conflict) yield conflict;
}

function isSelecting({ firstPage, lastPage, pages }: Doc2anyOptions): boolean {
  return firstPage !== undefined || lastPage !== undefined || pages !== undefined;
}

function parameterError(parameter: string, rule: string): ConversionError {
  return new ConversionError('BAD_PARAMETER', `Parameter ${rule}`, { parameter });
}
