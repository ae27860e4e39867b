import { type Attributes, isOn, readMarkup, readNumber } from './markup.ts';

/** The formatting that determines the height of a line. An omitted property is inherited. */
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
  readonly snapsToGrid?: boolean;
}

export interface Styles {
  /** Returns what a paragraph inherits from its style, or from the default one. */
  formatting(styleId: string | undefined): Formatting;
  /** Reads an element inside the properties of a paragraph or of text. */
  read(name: string, attributes: Attributes): Formatting;
}

/** Fonts of a theme, by the values of attributes such as `w:asciiTheme`. */
type ThemeFonts = Readonly<Record<string, string>>;

/** More styles than this are not based on each other, except in a loop. */
const MAX_DEPTH = 50;
/** Word's size if a document has no default. */
const DEFAULT_SIZE = 10;

/** @throws Error if a part is not well-formed. */
export function readStyles(styles: string, theme: string): Styles {
  const fonts = readTheme(theme);
  const byId = new Map<string, { basedOn?: string; own: Formatting }>();
  let defaults: Formatting = { size: DEFAULT_SIZE };
  let defaultId: string | undefined;
  let id: string | undefined;

  const read = (name: string, attributes: Attributes) => readFormatting(name, attributes, fonts);
  readMarkup(styles, {
    open({ name, attributes }, path) {
      if (name === 'w:style') {
        id = attributes['w:styleId'] ?? '';
        byId.set(id, { own: {} });
        if (attributes['w:type'] === 'paragraph' && attributes['w:default'] && isOn(attributes['w:default']))
          defaultId = id;
        return;
      }
      if (path[1] === 'w:docDefaults') defaults = { ...defaults, ...read(name, attributes) };
      const style = byId.get(id ?? '');
      // The formatting of parts of tables is deeper.
      if (!style || path[1] !== 'w:style') return;
      if (name === 'w:basedOn') style.basedOn = attributes['w:val'] ?? '';
      if (path.length === 3) style.own = { ...style.own, ...read(name, attributes) };
    },
  });

  const resolved = new Map<string | undefined, Formatting>();
  function resolve(styleId: string | undefined, depth: number): Formatting {
    const style = byId.get(styleId ?? '');
    if (!style || depth > MAX_DEPTH) return defaults;
    return { ...resolve(style.basedOn, depth + 1), ...style.own };
  }

  return {
    read,
    formatting(styleId) {
      const known = styleId !== undefined && byId.has(styleId) ? styleId : defaultId;
      if (!resolved.has(known)) resolved.set(known, resolve(known, 0));
      return resolved.get(known)!;
    },
  };
}

function readFormatting(name: string, attributes: Attributes, fonts: ThemeFonts): Formatting {
  const value = attributes['w:val'];
  switch (name) {
    case 'w:sz': {
      const size = readNumber(value);
      return size === undefined ? {} : { size: size / 2 };
    }
    case 'w:rFonts': {
      const latinFont = fonts[attributes['w:asciiTheme'] ?? ''] ?? attributes['w:ascii'];
      const asianFont = fonts[attributes['w:eastAsiaTheme'] ?? ''] ?? attributes['w:eastAsia'];
      return { ...(latinFont && { latinFont }), ...(asianFont && { asianFont }) };
    }
    case 'w:spacing': {
      const [line, after] = [readNumber(attributes['w:line']), readNumber(attributes['w:after'])];
      return {
        ...(line !== undefined && { line, lineRule: attributes['w:lineRule'] ?? 'auto' }),
        ...(after !== undefined && { after }),
      };
    }
    case 'w:snapToGrid':
      return { snapsToGrid: isOn(value) };
    default:
      return {};
  }
}

/** Themes name a font for each script. Documents without a font for ideographs get the one for simplified Chinese. */
function readTheme(theme: string): ThemeFonts {
  const fonts: Record<string, string> = {};
  if (theme === '') return fonts;
  readMarkup(theme, {
    open({ name, attributes }, path) {
      const kind = /^a:(major|minor)Font$/.exec(path.at(-1) ?? '')?.[1];
      const { typeface, script } = attributes;
      if (!kind || !typeface) return;
      if (name === 'a:latin') fonts[`${kind}Ascii`] = fonts[`${kind}HAnsi`] = typeface;
      if (name === 'a:ea') fonts[`${kind}EastAsia`] = typeface;
      if (name === 'a:font' && script === 'Hans') fonts[`${kind}EastAsia`] ??= typeface;
    },
  });
  return fonts;
}
