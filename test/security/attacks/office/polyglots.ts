import type { LeakFile, Target } from './archive.ts';
import { EXCEL_LEAKS } from './excel.ts';
import { ODF_LEAKS } from './odf.ts';
import { WORD_LEAKS } from './word.ts';

/** Each is put before an archive, which programs find by its end. */
const HEADS: ReadonlyArray<readonly [name: string, head: (target: Target) => string]> = [
  ['a PDF', () => '%PDF-1.7\n1 0 obj<<>>endobj\n'],
  ['a GIF', () => 'GIF89a\x01\0\x01\0\0\0\0;'],
  ['a web page', ({ url }) => `<!doctype html><img src="${url}"><!--`],
  ['an RTF document', ({ url }) => `{\\rtf1{\\field{\\*\\fldinst INCLUDEPICTURE "${url}"}}}`],
];

/** Documents that are also files of another format, so that two programs may see different things in them. */
export const POLYGLOT_LEAKS: readonly LeakFile[] = HEADS.flatMap(([name, head]) =>
  [WORD_LEAKS[0]!, EXCEL_LEAKS[0]!, ODF_LEAKS[0]!].map((leak) => ({
    name: `${leak.name} after ${name}`,
    extension: leak.extension,
    bytes: async (target) => Buffer.concat([Buffer.from(head(target), 'latin1'), await leak.bytes(target)]),
  })),
);
