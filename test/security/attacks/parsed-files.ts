import {
  circularCompound,
  difatBomb,
  hugeContentTypes,
  longWhiteSpace,
  rtfWords,
} from '../../fixtures/bombs/hostile-parse.ts';

/** Documents that are slow to parse, by their names. */
export const PARSED_FILES: Readonly<Record<string, () => Buffer>> = {
  'bomb.doc': () => difatBomb(4.6),
  'circle.doc': circularCompound,
  'space.doc': () => longWhiteSpace(64_000),
  'space.rtf': () => longWhiteSpace(20_000_000),
  'types.docx': () => hugeContentTypes(290_000_000),
  'words.rtf': () => rtfWords(40_000_000),
};
