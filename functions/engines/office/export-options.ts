import { type OfficeOptions, officeOptions } from './options.ts';

/**
 * Writes the filter options of LibreOffice's PDF export as JSON. Encryption is not included: qpdf does it, with AES-256.
 * Source: https://help.libreoffice.org/latest/en-US/text/shared/guide/pdf_params.html
 */
export function exportOptions(options: OfficeOptions, pageRange: string | undefined): string {
  const values = {
    ReduceImageResolution: true,
    SinglePageSheets: options.fit === 'sheet',
    // The default of soffice. Otherwise, relative links contain the path of the conversion's temporary folder.
    ExportLinksRelativeFsys: true,
    // Skips the pages that LibreOffice inserts to keep odd page numbers on the right. Word inserts none where
    // numbering restarts.
    IsSkipEmptyPages: true,
    ...(pageRange !== undefined && { PageRange: pageRange }),
    ...ownProperties(options),
  };
  const properties = Object.entries(values).map(([name, value]) => [name, property(value)]);
  return JSON.stringify(Object.fromEntries(properties));
}

/** Returns the export properties that individual options define. */
function ownProperties(options: OfficeOptions): Record<string, string | number | boolean> {
  const given: Readonly<Record<string, unknown>> = options;
  const own = Object.entries(officeOptions).map(([key, option]) =>
    'properties' in option && given[key] !== undefined
      ? (option.properties as (value: unknown) => object)(given[key])
      : {},
  );
  return Object.assign({}, ...own);
}

function property(value: string | number | boolean) {
  const type = typeof value === 'number' ? 'long' : typeof value;
  return { type, value: String(value) };
}
