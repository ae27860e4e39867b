import { type Edit, readMarkup, withAttributes } from '../markup.ts';

/**
 * Fonts for the labels of lists. In Word, a label makes its line higher by what is above the baseline, but not by what is below it,
 * so the stand-in of such a font in `layers/fonts/metrics.json` has little below the baseline.
 */
const LABEL_FONTS: ReadonlyMap<string, string> = new Map([['Courier New', 'Courier New Label']]);
const FONT_ATTRIBUTES = ['w:ascii', 'w:hAnsi', 'w:cs'];

/**
 * Gives the labels of lists fonts that make a line as high as in Word. Office writes the "o" of the second level in Courier New,
 * which has more below the baseline than Calibri.
 * @throws Error if the text is not well-formed.
 */
export function labelEdits(numbering: string): Edit[] {
  const edits: Edit[] = [];
  readMarkup(numbering, {
    open(tag, path) {
      if (tag.name !== 'w:rFonts' || path.at(-1) !== 'w:rPr' || path.at(-2) !== 'w:lvl') return;
      const fonts = Object.entries(tag.attributes).map(([name, font]) => [
        name,
        FONT_ATTRIBUTES.includes(name) ? (LABEL_FONTS.get(font) ?? font) : font,
      ]);
      const attributes = Object.fromEntries(fonts);
      if (FONT_ATTRIBUTES.some((name) => attributes[name] !== tag.attributes[name]))
        edits.push(withAttributes(tag, attributes));
    },
  });
  return edits;
}
