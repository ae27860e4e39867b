import createBidi from 'bidi-js';

export type Direction = 'ltr' | 'rtl';

/** A part of a line whose characters are next to each other on the page. They are in the order in which they are read. */
interface VisualRun {
  readonly text: string;
  readonly direction: Direction;
}

const bidi = createBidi();

/** Returns the direction of a paragraph, which is that of its first letter. */
export function directionOf(paragraph: string): Direction {
  return (bidi.getEmbeddingLevels(paragraph).paragraphs[0]?.level ?? 0) % 2 === 1 ? 'rtl' : 'ltr';
}

/** Divides a line into runs of one direction, and returns them from left to right (Unicode Standard Annex 9). */
export function visualRuns(line: string, direction = directionOf(line)): readonly VisualRun[] {
  const embedding = bidi.getEmbeddingLevels(line, direction);
  const { levels } = embedding;
  const runs: Array<VisualRun & { text: string; readonly level: number }> = [];
  let last = -1;
  for (const index of bidi.getReorderedIndices(line, embedding)) {
    const level = levels[index]!;
    const isReversed = level % 2 === 1;
    const run = runs.at(-1);
    const goesOn = run?.level === level && index === last + (isReversed ? -1 : 1);
    const character = isReversed ? (bidi.getMirroredCharacter(line[index]!) ?? line[index]!) : line[index]!;
    if (run && goesOn) run.text = isReversed ? character + run.text : run.text + character;
    else runs.push({ text: character, level, direction: isReversed ? 'rtl' : 'ltr' });
    last = index;
  }
  return runs;
}
