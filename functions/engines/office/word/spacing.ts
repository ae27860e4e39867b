import { type Attributes, type Edit, readMarkup, withAttributes } from '../markup.ts';
import { attributesOf, CELL_MARGINS, type Paragraph, type Section, TWIPS, widthOf } from './paragraphs.ts';

const BEFORE = 'w:beforeAutospacing';
const AFTER = 'w:afterAutospacing';

/**
 * Removes from styles that Word chooses the space before and after a paragraph, as browsers do. LibreOffice knows that such items of
 * a list have no space between them, but only looks at the paragraphs themselves, which get it from `setAutoSpacing`.
 * @throws Error if the text is not well-formed.
 */
export function autoSpacingStyleEdits(styles: string): Edit[] {
  const edits: Edit[] = [];
  readMarkup(styles, {
    open(tag) {
      if (tag.name === 'w:spacing' && (BEFORE in tag.attributes || AFTER in tag.attributes))
        edits.push(withAttributes(tag, withoutAutoSpacing(tag.attributes)));
    },
  });
  return edits;
}

/** Writes into paragraphs whether Word chooses the space around them. LibreOffice also takes a negation for it. */
export function setAutoSpacing({ paragraphs }: Section): void {
  for (const paragraph of paragraphs) {
    const { isAutoBefore, isAutoAfter } = paragraph.formatting;
    if (isAutoBefore === undefined && isAutoAfter === undefined) continue;
    paragraph.changes.set('w:spacing', {
      ...withoutAutoSpacing(attributesOf(paragraph, 'w:spacing')),
      ...(isAutoBefore && { [BEFORE]: '1' }),
      ...(isAutoAfter && { [AFTER]: '1' }),
    });
  }
}

function withoutAutoSpacing({ [BEFORE]: _, [AFTER]: __, ...others }: Attributes): Attributes {
  return others;
}

/** Settings of a document that decide where Word compresses punctuation. */
export interface PunctuationSettings {
  readonly isCompressed: boolean;
  /** Version of Word whose layout the document has; 15 since Word 2013. */
  readonly version: number;
}

/** Punctuation that is as wide as an ideograph, but empty on one side. */
const PUNCTUATION = /[\u3001\u3002\u3008-\u3011\uff01\uff08\uff09\uff0c\uff1a\uff1b\uff1f]/;
/**
 * Part of an ideograph by which a line may be too long. In PDFs that Word made, lines exceeded by 0.4 are compressed, and those
 * exceeded by 0.6 are not. Word's widths at 10.5 points, the usual size, are 0.6 % larger than LibreOffice's.
 */
const COMPRESSIBLE = 0.42;
const JUSTIFIED = ['both', 'distribute'];
const UNCOMPRESSED = ['center', 'right', 'end'];

/**
 * Breaks the lines of Chinese and Japanese paragraphs where Word does. It compresses punctuation if another character then fits into
 * the line. LibreOffice compresses without a limit or, by default, not at all, so the line is made longer instead.
 * Since Word 2013, only justified text is compressed.
 */
export function lengthenPunctuatedLines(
  section: Section,
  { isCompressed, version }: PunctuationSettings,
): void {
  const arrangesCharacters = /chars/i.test(section.grid?.attributes['w:type'] ?? '');
  if (!isCompressed || arrangesCharacters) return;
  for (const paragraph of section.paragraphs) {
    const { alignment = 'left', right = 0 } = paragraph.formatting;
    const isAligned = version < 15 ? !UNCOMPRESSED.includes(alignment) : JUSTIFIED.includes(alignment);
    if (paragraph.cell || !isAligned) continue;
    const size = sizeOfPunctuatedText(paragraph, widthOf(section));
    const { 'w:right': _, 'w:end': __, ...others } = paragraph.own.get('w:ind')?.attributes ?? {};
    // An indent in characters would take precedence.
    if (size === undefined || 'w:rightChars' in others || 'w:endChars' in others) continue;
    const indent = Math.round(right - COMPRESSIBLE * size * TWIPS);
    paragraph.changes.set('w:ind', { ...others, 'w:right': String(indent) });
  }
}

/** Returns the font size of text that has punctuation and fills more than a line. */
function sizeOfPunctuatedText({ texts }: Paragraph, width: number): number | undefined {
  const punctuated = texts.find(({ text }) => PUNCTUATION.test(text));
  const isLong = texts.reduce((sum, text) => sum + text.width, 0) > width;
  return isLong ? punctuated?.formatting.size : undefined;
}

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
