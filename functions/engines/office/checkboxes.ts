import { type Edit, readMarkup, type Tag } from './markup.ts';

/** Built-in number formats end at 163, and Excel numbers its own from there. */
const FORMAT_ID = 9000;
const FORMAT = '[=1]&quot;\u2611\ufe0e&quot;;[=0]&quot;\u2610\ufe0e&quot;;General';
const DEFINITION = `<numFmt numFmtId="${FORMAT_ID}" formatCode="${FORMAT}"/>`;

/** Whether the part that lists the features of cells in Excel 365 has checkboxes. */
export function hasCheckboxes(features: string): boolean {
  return /\btype="Checkbox"/.test(features);
}

/**
 * Draws checkboxes in cells, which LibreOffice prints as TRUE and FALSE, with a number format.
 * @param styles the part with the formats of all cells
 * @throws Error if the text is not well-formed.
 */
export function checkboxEdits(styles: string): Edit[] {
  const edits: Edit[] = [];
  let format: Tag | undefined;
  let hasAlignment = false;
  let formats: Tag | undefined;
  let root: Tag | undefined;
  readMarkup(styles, {
    open(tag, path) {
      root ??= tag;
      if (tag.name === 'numFmts') formats = tag;
      if (tag.name === 'xf' && path.at(-1) === 'cellXfs') [format, hasAlignment] = [tag, false];
      if (tag.name === 'alignment') hasAlignment = true;
      if (!tag.name.endsWith(':xfComplement') || !format) return;
      const text = styles
        .slice(format.start, format.end)
        .replace(/\s(numFmtId|applyNumberFormat|applyAlignment)="[^"]*"/g, '')
        .replace(
          />$/,
          ` numFmtId="${FORMAT_ID}" applyNumberFormat="1" applyAlignment="1">${hasAlignment ? '' : '<alignment horizontal="center"/>'}`,
        );
      edits.push({ start: format.start, end: format.end, text });
      format = undefined;
    },
    close(name) {
      if (name === 'xf') format = undefined;
    },
  });
  if (edits.length === 0 || !root) return [];
  if (formats?.isEmpty) {
    edits.push({ start: formats.start, end: formats.end, text: `<numFmts>${DEFINITION}</numFmts>` });
  } else {
    const { end } = formats ?? root;
    edits.push({
      start: end,
      end,
      text: formats ? DEFINITION : `<numFmts count="1">${DEFINITION}</numFmts>`,
    });
  }
  return edits;
}
