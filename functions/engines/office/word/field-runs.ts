import { type Edit, readMarkup } from '../markup.ts';

const MARKS = new Set(['w:fldChar', 'w:instrText', 'w:delInstrText']);

/** A run whose children are being read. */
interface Run {
  readonly depth: number;
  properties: string;
  hasChild: boolean;
  isAfterMark: boolean;
}

/**
 * Splits runs that mix field characters (`w:fldChar`) with other text, because LibreOffice drops the formatting of
 * such a run at its first field character.
 * @throws Error if the text is not well-formed.
 */
export function fieldRunEdits(part: string): Edit[] {
  const edits: Edit[] = [];
  if (!part.includes('<w:fldChar')) return edits;
  const runs: Run[] = [];
  let start = 0;
  readMarkup(part, {
    open(tag, path) {
      const run = runs.at(-1);
      if (run && path.length === run.depth + 1) {
        if (tag.name === 'w:rPr') start = tag.start;
        else {
          const isMark = MARKS.has(tag.name);
          if (run.hasChild && (isMark || run.isAfterMark))
            edits.push({ start: tag.start, end: tag.start, text: `</w:r><w:r>${run.properties}` });
          run.hasChild = true;
          run.isAfterMark = isMark;
        }
      }
      if (tag.name === 'w:r')
        runs.push({ depth: path.length, properties: '', hasChild: false, isAfterMark: false });
    },
    close(name, path, end) {
      const run = runs.at(-1);
      if (name === 'w:r') runs.pop();
      if (name === 'w:rPr' && run && path.length === run.depth + 1) run.properties = part.slice(start, end);
    },
  });
  return edits;
}
