import type { OptionsOf } from '../../shared/tool.ts';
import type { doc2any } from '../tool.ts';

export type Doc2anyOptions = OptionsOf<typeof doc2any>;

/** LibreOffice's numbers for versions and standards. */
const PDF_VERSIONS: Readonly<Record<Doc2anyOptions['pdfVersion'], number>> = {
  '1.5': 15,
  '1.6': 16,
  '1.7': 17,
  '2.0': 20,
  'PDF/A-1b': 1,
  'PDF/A-2b': 2,
  'PDF/A-3b': 3,
  'PDF/UA': 17,
};

/**
 * Writes the JSON that LibreOffice's PDF export takes as its filter options.
 * Source: https://help.libreoffice.org/latest/en-US/text/shared/guide/pdf_params.html
 */
export function exportOptions(options: Doc2anyOptions, pageRange: string | undefined): string {
  const values = {
    PageRange: pageRange,
    SelectPdfVersion: PDF_VERSIONS[options.pdfVersion],
    PDFUACompliance: options.pdfVersion === 'PDF/UA',
    UseLosslessCompression: false,
    Quality: options.quality,
    ReduceImageResolution: true,
    MaxImageResolution: options.imageResolution,
    SinglePageSheets: options.fit === 'sheet',
    ExportNotes: options.comments,
    ExportNotesPages: options.notes,
    ExportHiddenSlides: options.hiddenSlides,
    ExportBookmarks: options.bookmarks,
    ExportFormFields: options.forms,
    // A page that a text leaves blank to begin on the right is a page of the document.
    IsSkipEmptyPages: false,
    Watermark: options.watermark,
    EncryptFile: options.encrypt === undefined ? undefined : true,
    DocumentOpenPassword: options.encrypt,
  };
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return JSON.stringify(Object.fromEntries(given.map(([name, value]) => [name, property(value!)])));
}

function property(value: string | number | boolean) {
  const type = typeof value === 'number' ? 'long' : typeof value;
  return { type, value: String(value) };
}
