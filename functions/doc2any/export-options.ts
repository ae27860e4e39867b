import type { OptionsOf } from '../shared/tool.ts';
import type { doc2any } from './tool.ts';

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
 * Writes the filter options of LibreOffice's PDF export as JSON. Encryption is not included: qpdf does it, with AES-256.
 * Source: https://help.libreoffice.org/latest/en-US/text/shared/guide/pdf_params.html
 */
export function exportOptions(options: Doc2anyOptions, pageRange: string | undefined): string {
  const values = {
    PageRange: pageRange,
    SelectPdfVersion: PDF_VERSIONS[options.pdfVersion],
    PDFUACompliance: options.pdfVersion === 'PDF/UA',
    UseTaggedPDF: options.tagged || undefined,
    UseLosslessCompression: options.lossless,
    Quality: options.quality,
    ReduceImageResolution: true,
    MaxImageResolution: options.imageResolution,
    SinglePageSheets: options.fit === 'sheet',
    ExportNotes: options.comments,
    ExportNotesPages: options.notes,
    ExportHiddenSlides: options.hiddenSlides,
    // As soffice does by default. Otherwise, relative links contain the path of the conversion's temporary folder.
    ExportLinksRelativeFsys: true,
    ExportBookmarks: options.bookmarks,
    ExportFormFields: options.forms,
    // Pages that are left blank so that the next one starts on the right count as pages of the document.
    IsSkipEmptyPages: false,
    Watermark: options.watermark,
    WatermarkColor: options.watermarkColor,
    // In tenths of a degree.
    WatermarkRotateAngle: options.watermarkAngle === undefined ? undefined : options.watermarkAngle * 10,
  };
  const given = Object.entries(values).filter(([, value]) => value !== undefined);
  return JSON.stringify(Object.fromEntries(given.map(([name, value]) => [name, property(value!)])));
}

function property(value: string | number | boolean) {
  const type = typeof value === 'number' ? 'long' : typeof value;
  return { type, value: String(value) };
}
