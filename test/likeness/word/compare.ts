import { drawPage } from '../../helpers/pdf.ts';
import { difference } from '../../helpers/pixels.ts';
import { type Layout, readLayout } from './layout.ts';

/** Pages of each document whose look is compared. */
const PAGES = 3;
/** Share of characters that two versions of a document have in common. */
const SAME_TEXT = 0.985;

/** How much one of our PDFs is like the one that Office made of the same document. */
export interface Similarity {
  /** Whether both contain the same characters. Otherwise the document was changed after its PDF was made. */
  readonly sameText: boolean;
  readonly group: string;
  readonly pages: readonly [ours: number, theirs: number];
  /** Share of lines that begin and end alike, on any page. */
  readonly lines: number;
  /** Share of lines that are alike and on the same page. */
  readonly places: number;
  /** Mean difference of the channels of the first pages, 0 to 255. */
  readonly look: number;
}

/** Font families by what documents can expect of their substitutes. The first that a tenth of the characters have decides. */
const GROUPS: ReadonlyArray<readonly [group: string, fonts: RegExp]> = [
  [
    'CJK',
    /Gothic|Mincho|Ming|Sim(Sun|Hei)|YaHei|JhengHei|Kai|FangSong|DengXian|Song|Hei|Meiryo|Malgun|Batang|Gulim|Dotum|CJK|Yu-?Min|AppleSD|Hiragino|微软|宋体|黑体/i,
  ],
  ['Cambria', /Cambria(?!Math)/],
  ['Aptos', /Aptos/],
  [
    'Arial, Calibri, Times, Courier',
    /Arial(?!Narrow|-?Black|Unicode|Rounded)|Helvetica|Calibri|Times|Courier/,
  ],
];

export function groupOf(fonts: Layout['fonts']): string {
  const total = [...fonts.values()].reduce((sum, each) => sum + each, 0);
  const share = (names: RegExp) =>
    [...fonts].reduce((sum, [name, count]) => sum + (names.test(name) ? count : 0), 0) / total;
  const [cjk, ...others] = GROUPS;
  // Latin letters outnumber ideographs, but these decide the height of lines.
  if (share(cjk![1]) > 0.1) return cjk![0];
  const best = others
    .map(([group, names]) => ({ group, part: share(names) }))
    .sort((a, b) => b.part - a.part)[0]!;
  return best.part >= 0.6 ? best.group : 'others';
}

export async function compareWithOffice(ours: Uint8Array, theirs: Uint8Array): Promise<Similarity> {
  const [one, other] = [await readLayout(ours), await readLayout(theirs)];
  return {
    sameText: alike(characters(one), characters(other)) >= SAME_TEXT,
    group: groupOf(other.fonts),
    pages: [one.pages.length, other.pages.length],
    lines: alike(one.pages.flat(), other.pages.flat()),
    places: alike(numbered(one.pages), numbered(other.pages)),
    look: await lookOf(ours, theirs, Math.min(PAGES, one.pages.length, other.pages.length)),
  };
}

function characters({ pages }: Layout): string[] {
  return [...pages.flat().join('')];
}

function numbered(pages: Layout['pages']): string[] {
  return pages.flatMap((lines, page) => lines.map((line) => `${page} ${line}`));
}

/** Returns the share of items that both have, 1 if there are none. */
function alike(ours: readonly string[], theirs: readonly string[]): number {
  if (ours.length + theirs.length === 0) return 1;
  const left = new Map<string, number>();
  for (const each of ours) left.set(each, (left.get(each) ?? 0) + 1);
  let common = 0;
  for (const each of theirs) {
    const count = left.get(each) ?? 0;
    if (count > 0) common += 1;
    left.set(each, count - 1);
  }
  return (2 * common) / (ours.length + theirs.length);
}

async function lookOf(ours: Uint8Array, theirs: Uint8Array, pages: number): Promise<number> {
  let sum = 0;
  for (let page = 1; page <= pages; page++) {
    sum += await difference(await drawPage(ours, page), await drawPage(theirs, page));
  }
  return sum / Math.max(1, pages);
}
