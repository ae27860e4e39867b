import { type Attributes, type Edit, readMarkup, withAttributes } from '../markup.ts';
import { attributesOf, type Section } from './paragraphs.ts';

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
