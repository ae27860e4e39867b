import { pdftools } from '../pdftools/tool.ts';
import { defaultOptions } from '../shared/options/read-options.ts';
import type { OptionsOf } from '../shared/tool.ts';
import type { Doc2anyOptions } from './libreoffice/export-options.ts';

type PdftoolsOptions = OptionsOf<typeof pdftools>;

/** Options of pdftools for the pages of a PDF that was just made: ours where the two share a meaning, else its defaults. */
export function rasterOptions(options: Doc2anyOptions): PdftoolsOptions {
  const { firstPage, lastPage, pages, resolution, width, height, quality, encrypt } = options;
  return {
    ...defaultOptions(pdftools),
    firstPage,
    lastPage,
    pages,
    resolution,
    width,
    height,
    quality,
    userPassword: encrypt,
  };
}
