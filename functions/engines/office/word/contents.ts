import { type Edit, readMarkup } from './markup.ts';

/** The runs of a field up to its result. `end` is known once they have been read. */
interface FieldStart {
  readonly start: number;
  isContents: boolean;
  isSeparated: boolean;
  end?: number;
}

/**
 * Moves the start of a table of contents from its heading to its first entry. Otherwise LibreOffice takes the last character of the
 * heading for the first entry, which begins a page of its own if the heading does.
 * @throws Error if the text is not well-formed.
 */
export function contentsEdits(document: string): Edit[] {
  const edits: Edit[] = [];
  // Whether each content control around is one that Word inserts, such as a table of contents.
  const isInserted: boolean[] = [];
  let [hasText, run] = [false, 0];
  /** The field that starts behind the text of this paragraph, and the one that the next paragraph gets. */
  let field: FieldStart | undefined;
  let moved: FieldStart | undefined;
  let target: number | undefined;
  const move = () => {
    if (moved?.end === undefined || target === undefined) return;
    const { start, end } = moved;
    edits.push({ start, end, text: '' }, { start: target, end: target, text: document.slice(start, end) });
    moved = undefined;
  };
  readMarkup(document, {
    open({ name, attributes, start, end, isEmpty }, path) {
      const parent = path.at(-1);
      if (name === 'w:sdt') isInserted.push(false);
      if (name === 'w:docPartObj' && isInserted.length > 0) isInserted[isInserted.length - 1] = true;
      if (name === 'w:p') {
        // An empty element has no place for runs.
        [hasText, field, target] = [false, undefined, isEmpty ? undefined : end];
      }
      if (parent !== 'w:p') {
        const type = name === 'w:fldChar' && path.at(-2) === 'w:p' ? attributes['w:fldCharType'] : undefined;
        if (type === 'begin' && hasText && isInserted.at(-1))
          field = { start: run, isContents: false, isSeparated: false };
        if (type === 'separate' && field?.isContents) field.isSeparated = true;
        // The field has no entries.
        if (type === 'end') field = undefined;
        return;
      }
      if (name === 'w:r') run = start;
      if (name !== 'w:pPr') move();
    },
    text(text, path) {
      if (path.at(-1) === 'w:instrText' && field && /^\s*TOC\b/.test(text)) field.isContents = true;
      if (path.at(-1) !== 'w:t' || text.trim() === '') return;
      // The first entry is in the same paragraph if the field has begun.
      [hasText, field] = [true, undefined];
    },
    close(name, path, end) {
      if (name === 'w:sdt') {
        isInserted.pop();
        moved = undefined;
      }
      if (name === 'w:pPr' && path.at(-1) === 'w:p') target = end;
      if (name === 'w:r' && field?.isSeparated) field.end ??= end;
      if (name === 'w:p') {
        move();
        moved = field ?? moved;
        field = undefined;
      }
    },
  });
  return edits;
}
