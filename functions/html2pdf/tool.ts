import { ignoredPageNames, insteadOfRefused, refusedPageNames } from '../engines/chromium/page-options.ts';
import { ACCESSIBLE } from '../engines/pdf/graph/archive/standards.ts';
import { checkArchive, checkEncryption } from '../engines/pdf/qpdf/encryption.ts';
import { ConversionError } from '../shared/errors.ts';
import { checkPageSelection } from '../shared/options/page-selection.ts';
import { defineTool } from '../shared/tool.ts';
import { editOf } from './edit.ts';
import { html2pdfOptions } from './options.ts';
import { checkMargins } from './paper/layout.ts';

/** Options of wkhtmltopdf that have no effect here. */
const IGNORED: readonly string[] = (
  '--collate --no-collate --copies --dpi -d --image-dpi --no-pdf-compression ' +
  '--resolve-relative-links --keep-relative-links --enable-forms --disable-forms ' +
  '--enable-toc-back-links --disable-toc-back-links --exclude-from-outline --include-in-outline ' +
  '--toc-level-indentation --toc-text-size-shrink'
).split(' ');

/** Converts web pages to PDF. The names and defaults of options are those of wkhtmltopdf. */
export const html2pdf = defineTool({
  name: 'html2pdf',
  summary: 'Converts web pages to PDF.',
  source: 'page',
  formats: ['pdf'],
  paged: [],
  options: html2pdfOptions,
  common: ['--page-size', '--orientation', '--margin-top', '--print-media-type', '--page-ranges'],
  ignored: [...ignoredPageNames, ...IGNORED],
  refused: [...refusedPageNames, '--xsl-style-sheet', '--dump-outline'],
  instead: insteadOfRefused,
  sizing: { memory: 2048, layers: ['chromium', 'fonts', 'pdf'] },
  example: {
    infile: 'page.html',
    outfile: 'page.pdf',
    url: 'https://example.com/',
    seconds: { warm: 1.5, start: 0.48 },
  },
  *validate(options) {
    yield* checkPageSelection({ ...options, pages: options.pageRanges }, '--page-ranges');
    yield* checkEncryption(options);
    yield* checkArchive(options.pdfVersion, editOf(options)?.encrypt);
    yield* checkMargins(options);
    if (options.pdfVersion !== ACCESSIBLE) return;
    const isEncrypted = editOf(options)?.encrypt !== undefined;
    const parameter = isEncrypted ? '--encrypt' : '--cover';
    if (!isEncrypted && options.cover === undefined) return;
    const message = `Parameter '${parameter}' cannot be combined with '--pdf-version=${ACCESSIBLE}'.`;
    yield new ConversionError('BAD_PARAMETER', message, { parameter });
  },
});
