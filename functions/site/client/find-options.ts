/** Words of people who do not know the name of an option, each with words that descriptions of such options contain. */
const SYNONYMS: ReadonlyArray<readonly [typed: string, described: string]> = [
  ['landscape portrait sideways', 'orientation rotate'],
  ['a4 a3 a5 letter legal', 'page-size paper'],
  ['black white bw', 'gray monochrome'],
  ['compress compression smaller shrink size', 'quality optimize resize'],
  ['protect lock secure secret', 'password encrypt'],
  ['unlock', 'password decrypt'],
  ['merge combine join concatenate', 'append'],
  ['divide separate', 'split'],
  ['logo overlay', 'stamp watermark composite'],
  ['caption label write', 'annotate'],
  ['mirror', 'flip flop'],
  ['turn', 'rotate'],
  ['straighten', 'deskew'],
  ['cut', 'crop trim'],
  ['dpi ppi resolution', 'resolution density'],
  ['login session auth', 'cookie password header'],
  ['toc contents', 'toc'],
  ['pagination numbering', 'number footer'],
  ['wait sleep pause', 'delay wait'],
  ['exif gps privacy', 'metadata strip'],
  ['opacity', 'transparent alpha dissolve opacity'],
];
const FILLERS = ['and', 'or', 'of', 'the', 'in', 'to', 'a', 'as', 'on', 'for', 'with'];

/**
 * Returns a function that tells whether a description contains each word of a query, or one that means the same. The query
 * and the description are compared in lower case.
 */
export function matcherOf(query: string): (description: string) => boolean {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const telling = words.filter((word) => !FILLERS.includes(word));
  const wanted = (telling.length > 0 ? telling : words).map((word) => [word, ...meaning(word)]);
  return (description) => wanted.every((any) => any.some((word) => description.includes(word)));
}

/** Returns the words that mean the same, also while the word is still being typed. */
function meaning(word: string): string[] {
  const known = SYNONYMS.filter(([typed]) => typed.split(' ').some((each) => isBeginning(word, each)));
  return known.flatMap(([, described]) => described.split(' '));
}

function isBeginning(word: string, known: string): boolean {
  return word === known || (word.length > 3 && known.startsWith(word));
}
