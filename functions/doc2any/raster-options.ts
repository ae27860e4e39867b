import { pdftools } from '../pdftools/tool.ts';
import { defaultOptions } from '../shared/options/read-options.ts';
import type { OptionsOf } from '../shared/tool.ts';
import type { Doc2anyOptions } from './libreoffice/export-options.ts';

type PdftoolsOptions = OptionsOf<typeof pdftools>;

/** Returns the options of pdftools for the PDF that was just made: ours if the two share a meaning, else its defaults. */
export function rasterOptions(options: Doc2anyOptions): PdftoolsOptions {
  const { firstPage, lastPage, pages, resolution, width, height, quality } = options;
  return {
    ...defaultOptions(pdftools),
    firstPage,
    lastPage,
    pages,
    resolution,
    width,
    height,
    quality,
  };
}
