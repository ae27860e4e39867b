import { pdftools } from '../pdftools/tool.ts';
import { defaultOptions } from '../shared/options/read-options.ts';
import type { OptionsOf } from '../shared/tool.ts';
import type { Doc2anyOptions } from './export-options.ts';

type PdftoolsOptions = OptionsOf<typeof pdftools>;

/**
 * Returns the options of pdftools for the PDF that was just created: the caller's where both tools share an option, or else
 * the defaults.
 */
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
