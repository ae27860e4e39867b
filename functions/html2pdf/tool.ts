import { ignoredPageNames, insteadOfRefused, refusedPageNames } from '../engines/chromium/page-options.ts';
import { ACCESSIBLE, checkFinish, encryptionOf, type Permissions } from '../engines/pdf/finish-options.ts';
import { ConversionError } from '../shared/errors.ts';
import { checkPageSelection } from '../shared/options/page-selection.ts';
import { defineTool } from '../shared/tool.ts';
import { type Html2pdfOptions, html2pdfOptions } from './options.ts';
import { checkMargins } from './paper.ts';

/** JPEG quality of `--lowquality`. */
const LOW_QUALITY = 40;

/** Returns the changes to the PDF that Chromium wrote. */
export function changesOf({ metadata, imageQuality, lowQuality }: Html2pdfOptions) {
  const information = Object.fromEntries(metadata.map(({ name, value }) => [name, value]));
  return {
    information: metadata.length > 0 ? information : undefined,
    imageQuality: imageQuality ?? (lowQuality ? LOW_QUALITY : undefined),
  };
}

/** Returns the last steps that the options ask for. */
export function finishOf(options: Html2pdfOptions) {
  const { pdfVersion: version, force } = options;
  return { version, force, encryption: encryptionOf(options, permissionsOf(options)) };
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
    const { encryption } = finishOf(options);
    yield* checkFinish(options, encryption);
    yield* checkMargins(options);
    if (options.pdfVersion !== ACCESSIBLE) return;
    const isEncrypted = encryption !== undefined;
    const parameter = isEncrypted ? '--encrypt' : '--cover';
    if (!isEncrypted && options.cover === undefined) return;
    const message = `Parameter '${parameter}' cannot be combined with '--pdf-version=${ACCESSIBLE}'.`;
    yield new ConversionError('BAD_PARAMETER', message, { parameter });
  },
});
