import { type Attributes, isOn, readMarkup, readNumber } from '../markup.ts';

/** The formatting that determines the height and the width of a line. An omitted property is inherited. */
export interface Formatting {
  /** Font size in points. */
  readonly size?: number;
  readonly latinFont?: string;
  readonly asianFont?: string;
  /** Line spacing in 240ths of a line, or in twentieths of a point if `lineRule` is not `auto`. */
  readonly line?: number;
  readonly lineRule?: string;
  /** Space after the paragraph, in twentieths of a point. */
  readonly after?: number;
  /** Whether Word chooses the space before and after the paragraph, as browsers do. */
  readonly isAutoBefore?: boolean;
  readonly isAutoAfter?: boolean;
  /** ID of the list that the paragraph is an item of; `0` for none. */
  readonly list?: string;
  /** Whether at least two lines of the paragraph stay together at the end and the start of a page. */
  readonly hasWidowControl?: boolean;
  readonly snapsToGrid?: boolean;
  /** Value of `w:jc`. */
  readonly alignment?: string;
  /** Indent at the right, in twentieths of a point. */
  readonly right?: number;
  readonly isHidden?: boolean;
}

export interface Styles {
  /** Returns what a paragraph inherits from its style, or from the default one, and from the style of its table. */
  formatting(styleId: string | undefined, tableStyleId?: string): Formatting;
  /** Reads an element inside `w:rPr`, which may name a character style. */
  readText(name: string, attributes: Attributes): Formatting;
}

/** Fonts of a theme, by the values of attributes such as `w:asciiTheme`. */
type ThemeFonts = ReadonlyMap<string | undefined, string>;

/** More styles than this are not based on each other, except in a loop. */
const MAX_DEPTH = 50;
/** Maximum number of styles, which bounds memory. Office documents have a few hundred. */
const MAX_STYLES = 10_000;
/** Word's size if a document has no default. */
const DEFAULT_SIZE = 10;

/**
 * @param language Language of the document's East Asian text, such as `ja-JP`.
 * @throws Error if a part is not well-formed or too long.
 */
export function readStyles(styles: string, theme: string, language = ''): Styles {
  const fonts = readTheme(theme, scriptOf(language));
  const readText = (name: string, attributes: Attributes) =>
    name === 'w:rStyle' ? resolve(attributes['w:val']) : readTextFormatting(name, attributes, fonts);
  const byId = new Map<string | undefined, { basedOn?: string; own: Formatting }>();
  let defaults: Formatting = { size: DEFAULT_SIZE };
  let defaultId: string | undefined;
  let id: string | undefined;
  readMarkup(styles, {
    open({ name, attributes }, path) {
      if (name === 'w:style') {
        id = attributes['w:styleId'] ?? '';
        byId.set(id, { own: {} });
        if (byId.size > MAX_STYLES) throw new Error('The document has too many styles.');
        if (attributes['w:type'] === 'paragraph' && attributes['w:default'] && isOn(attributes['w:default']))
          defaultId = id;
        return;
      }
      const parent = path.at(-1);
      const isParagraph = parent === 'w:pPr' || parent === 'w:numPr';
      const read = isParagraph
        ? readParagraph(name, attributes)
        : parent === 'w:rPr'
          ? readText(name, attributes)
          : {};
      if (path[1] === 'w:docDefaults') defaults = { ...defaults, ...read };
      const style = byId.get(id);
      if (!style || path[1] !== 'w:style') return;
      if (name === 'w:basedOn') style.basedOn = attributes['w:val'] ?? '';
      // The formatting of parts of tables is deeper.
      if (path.length === (parent === 'w:numPr' ? 4 : 3)) style.own = { ...style.own, ...read };
    },
  });

  function resolve(styleId: string | undefined, depth = 0): Formatting {
    const style = byId.get(styleId);
    if (!style || depth > MAX_DEPTH) return {};
    return { ...resolve(style.basedOn, depth + 1), ...style.own };
  }

  const known = new Map<string, Formatting>();
  return {
    readText,
    formatting(styleId, tableStyleId) {
      const paragraphStyle = byId.has(styleId) ? styleId : defaultId;
      const key = `${paragraphStyle}\n${tableStyleId}`;
      const formatting = known.get(key) ?? {
        ...defaults,
        ...resolve(tableStyleId),
        ...resolve(paragraphStyle),
      };
      known.set(key, formatting);
      return formatting;
    },
  };
}

/** Reads an element inside `w:pPr`, or inside its `w:numPr`. */
export function readParagraph(name: string, attributes: Attributes): Formatting {
  if (name === 'w:numId') return { list: attributes['w:val'] ?? '' };
  if (name === 'w:widowControl') return { hasWidowControl: isOn(attributes['w:val']) };
  if (name === 'w:snapToGrid') return { snapsToGrid: isOn(attributes['w:val']) };
  if (name === 'w:jc') return { alignment: attributes['w:val'] ?? '' };
  if (name === 'w:ind') {
    const right = readNumber(attributes['w:right'] ?? attributes['w:end']);
    return right === undefined ? {} : { right };
  }
  if (name !== 'w:spacing') return {};
  const { 'w:line': line, 'w:lineRule': lineRule, 'w:after': after } = attributes;
  const { 'w:beforeAutospacing': autoBefore, 'w:afterAutospacing': autoAfter } = attributes;
  return {
    // Newer versions of the format allow units, which are not read here.
    ...(line !== undefined && { line: readNumber(line) ?? Number.NaN, lineRule: 'auto' }),
    ...(lineRule !== undefined && { lineRule }),
    ...(after !== undefined && { after: readNumber(after) ?? 0 }),
    ...(autoBefore !== undefined && { isAutoBefore: isOn(autoBefore) }),
    ...(autoAfter !== undefined && { isAutoAfter: isOn(autoAfter) }),
  };
}

function readTextFormatting(name: string, attributes: Attributes, fonts: ThemeFonts): Formatting {
  const value = attributes['w:val'];
  if (name === 'w:vanish') return { isHidden: isOn(value) };
  if (name === 'w:sz') return { size: (readNumber(value) ?? 0) / 2 };
  if (name !== 'w:rFonts') return {};
  const latinFont = fonts.get(attributes['w:asciiTheme']) ?? attributes['w:ascii'];
  const asianFont = fonts.get(attributes['w:eastAsiaTheme']) ?? attributes['w:eastAsia'];
  return { ...(latinFont && { latinFont }), ...(asianFont && { asianFont }) };
}

/** Returns the script by which themes name the font for a language. */
function scriptOf(language: string): string {
  if (/^ja/i.test(language)) return 'Jpan';
  if (/^ko/i.test(language)) return 'Hang';
  return /^zh-(tw|hk|mo|hant)/i.test(language) ? 'Hant' : 'Hans';
}

function readTheme(theme: string, asianScript: string): ThemeFonts {
  const fonts = new Map<string, string>();
  if (theme === '') return fonts;
  readMarkup(theme, {
    open({ name, attributes: { typeface, script } }, path) {
      const kind = /^a:(major|minor)Font$/.exec(path.at(-1) ?? '')?.[1];
      if (!kind || !typeface) return;
      if (name === 'a:latin') fonts.set(`${kind}Ascii`, typeface).set(`${kind}HAnsi`, typeface);
      const asian = `${kind}EastAsia`;
      if (name === 'a:ea' || (name === 'a:font' && script === asianScript && !fonts.has(asian)))
        fonts.set(asian, typeface);
    },
  });
  return fonts;
}
