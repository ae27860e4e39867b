import type { LeakFile } from './archive.ts';
import { EXCEL_LEAKS } from './excel.ts';
import { ODF_LEAKS } from './odf.ts';
import { POLYGLOT_LEAKS } from './polyglots.ts';
import { POWERPOINT_LEAKS } from './powerpoint.ts';
import { TEXT_LEAKS } from './texts.ts';
import { WORD_LEAKS } from './word.ts';

/** All documents with external references. */
export const LEAK_FILES: readonly LeakFile[] = [
  ...WORD_LEAKS,
  ...EXCEL_LEAKS,
  ...POWERPOINT_LEAKS,
  ...ODF_LEAKS,
  ...TEXT_LEAKS,
  ...POLYGLOT_LEAKS,
];
