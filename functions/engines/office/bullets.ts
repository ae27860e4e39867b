import { type Edit, readMarkup, type Tag } from './markup.ts';

/** Elements of paragraph properties that stand before the character of a bullet, which say that it has a font. */
const FONTS = ['a:buFont', 'a:buFontTx'];
const LEVEL = /^a:lvl([1-9])pPr$/;
/** Font of the text of a theme. */
const THEME_FONT = '+mn-lt';

/** Properties of a paragraph or of a level of a list, which are being read. */
interface Properties {
  readonly level: string;
  hasFont: boolean;
  /** The bullet's character, if it may need a font. */
  bullet: Tag | undefined;
}

/**
 * Gives bullets in text boxes the font of their text, as in PowerPoint, if the slide names none. LibreOffice draws such bullets in a
 * symbol font, at another height. Placeholders are left alone, because their masters name a font.
 * @throws Error if the text is not well-formed.
 */
export function bulletEdits(slide: string): Edit[] {
  const edits: Edit[] = [];
  if (!slide.includes('<a:buChar')) return edits;
  let isPlaceholder = false;
  /** Levels of the text box's own list style that have a font. */
  let levels = new Set<string>();
  let properties: Properties | undefined;
  let pending: Tag | undefined;
  const give = (bullet: Tag | undefined, font: string) => {
    if (!bullet) return;
    const typeface = font.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
    const text = `<a:buFont typeface="${typeface}"/>`;
    edits.push({ start: bullet.start, end: bullet.start, text });
  };
  readMarkup(slide, {
    open(tag, path) {
      const { name, attributes } = tag;
      if (name === 'p:sp' || name === 'a:tc') [isPlaceholder, levels] = [false, new Set()];
      if (name === 'p:ph') isPlaceholder = true;
      if (name === 'a:pPr' && path.at(-1) === 'a:p')
        properties = { level: String(Number(attributes.lvl ?? 0) + 1), hasFont: false, bullet: undefined };
      const level = LEVEL.exec(name)?.[1];
      if (level) properties = { level, hasFont: false, bullet: undefined };
      if (properties && FONTS.includes(name)) properties.hasFont = true;
      if (properties && name === 'a:buChar') properties.bullet = tag;
      // The first run decides how a bullet looks.
      if (name === 'a:latin' && pending && path.at(-1) === 'a:rPr') {
        give(pending, attributes.typeface || THEME_FONT);
        pending = undefined;
      }
    },
    close(name, path) {
      if (LEVEL.test(name) && properties) {
        if (properties.hasFont) levels.add(properties.level);
        properties = undefined;
      }
      if (name === 'a:pPr' && properties) {
        const isPlain = !isPlaceholder && !properties.hasFont && !levels.has(properties.level);
        pending = isPlain ? properties.bullet : undefined;
        properties = undefined;
      }
      const endsFirstRun = name === 'a:r' && path.at(-1) === 'a:p';
      if (!endsFirstRun && name !== 'a:p') return;
      give(pending, THEME_FONT);
      pending = undefined;
    },
  });
  return edits;
}
