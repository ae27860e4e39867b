import { ignoredPageNames, insteadOfRefused, refusedPageNames } from '../engines/chromium/page-options.ts';
import { ACCESSIBLE, readStandard } from '../engines/pdf/graph/archive/standards.ts';
import { checkArchive, checkEncryption, encryptionOf } from '../engines/pdf/qpdf/encryption.ts';
import type { Changes, Permissions } from '../engines/pdf/qpdf/job.ts';
import { ConversionError } from '../shared/errors.ts';
import { checkPageSelection } from '../shared/options/page-selection.ts';
import { defineTool } from '../shared/tool.ts';
import { type Html2pdfOptions, html2pdfOptions } from './options.ts';
import { checkMargins } from './paper.ts';

/** JPEG quality of `--lowquality`. */
const LOW_QUALITY = 40;

/** Returns the changes to the PDF that Chromium wrote, or `undefined` if there are none. */
export function changesOf(options: Html2pdfOptions): Changes | undefined {
  const { metadata, pdfVersion, imageQuality, lowQuality } = options;
  const encrypt = encryptionOf(options, permissionsOf(options));
  const quality = imageQuality ?? (lowQuality ? LOW_QUALITY : undefined);
  const changes = {
    ...(encrypt && { encrypt }),
    ...(metadata.length > 0 && {
      information: Object.fromEntries(metadata.map(({ name, value }) => [name, value])),
    }),
    ...(pdfVersion !== undefined && !readStandard(pdfVersion) && { minVersion: pdfVersion }),
    ...(quality !== undefined && { imageQuality: quality }),
  };
  return Object.keys(changes).length === 0 ? undefined : changes;
}

/** Returns the permissions of `--permissions`, or `undefined` if the individual options decide. */
function permissionsOf({ permissions }: Html2pdfOptions): Required<Permissions> | undefined {
  if (!permissions) return undefined;
  const has = (word: (typeof permissions)[number]) => permissions.includes(word);
  return {
    print: has('print') ? 'full' : 'none',
    modify: has('modify')
      ? 'all'
      : has('annotate')
        ? 'annotate'
        : has('fill')
          ? 'form'
          : has('assemble')
            ? 'assembly'
            : 'none',
    extract: has('copy'),
  };
}

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
    yield* checkArchive(options.pdfVersion, changesOf(options)?.encrypt);
    yield* checkMargins(options);
    if (options.pdfVersion !== ACCESSIBLE) return;
    const isEncrypted = changesOf(options)?.encrypt !== undefined;
    const parameter = isEncrypted ? '--encrypt' : '--cover';
    if (!isEncrypted && options.cover === undefined) return;
    const message = `Parameter '${parameter}' cannot be combined with '--pdf-version=${ACCESSIBLE}'.`;
    yield new ConversionError('BAD_PARAMETER', message, { parameter });
  },
});
