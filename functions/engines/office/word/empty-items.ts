import type { Edit } from '../markup.ts';
import { CELL_MARGINS, type Section, TWIPS } from './paragraphs.ts';

/** Room for the border and for rounding, in points. */
const BORDER = 1;

/**
 * Gives list items without text, such as the numbers of a table's rows, a tab stop at the end of their cell. The tab after the number
 * may lead to an indent outside the cell, for which LibreOffice starts a second line, but Word does not.
 */
export function emptyItemEdits({ paragraphs }: Section): Edit[] {
  return paragraphs.flatMap(({ cell, formatting, texts, hasObject, properties }) => {
    const isItem = (formatting.list ?? '0') !== '0';
    const position = Math.floor(((cell?.width ?? 0) - CELL_MARGINS - BORDER) * TWIPS);
    if (!isItem || texts.length > 0 || hasObject || position <= 0 || !properties || properties.isEmpty)
      return [];
    const text = `<w:tabs><w:tab w:val="left" w:pos="${position}"/></w:tabs>`;
    return [{ start: properties.end, end: properties.end, text }];
  });
}
