import { type Dictionary, type Graph, isDictionary, isReference, type Value } from './graph.ts';
import { fixed, type Line } from './typesetter.ts';

/** Codes that are the same in all encodings of Latin letters, except those of a font's own `/Differences`. */
const COMMON = /^[\x20-\x26\x28-\x5f\x61-\x7e]*$/;
const LATIN_1 = /^[\x20-\x7e\xa1-\xff]*$/;

/** A font that a form embeds with all of its glyphs. It sets texts of the characters whose codes are certain. */
export class EmbeddedFont {
  /** Its entry in a dictionary of fonts. */
  readonly resource: Dictionary;
  readonly #name: string;
  readonly #widths: readonly number[];
  readonly #first: number;
  readonly #height: number;
  readonly #codes: RegExp;
  readonly #changed: ReadonlySet<number>;

  private constructor(graph: Graph, name: string, ref: string) {
    const font = graph.dict(ref);
    const encoding = graph.get(font['/Encoding']);
    const { '/BaseEncoding': base, '/Differences': differences } = graph.dict(font['/Encoding']);
    this.resource = { [name]: ref };
    this.#name = name;
    this.#first = graph.number(font['/FirstChar']);
    this.#widths = graph.list(font['/Widths']).map((width) => graph.number(width));
    this.#height = graph.number(graph.dict(font['/FontDescriptor'])['/CapHeight'], 700) / 1000;
    const isLatin = [encoding, graph.get(base)].includes('/WinAnsiEncoding');
    this.#codes = isLatin ? LATIN_1 : COMMON;
    this.#changed = changedCodes(graph.list(differences));
  }

  /** Returns `undefined` for a font that may lack glyphs, or whose codes or widths are unknown. */
  static open(graph: Graph, name: string, ref: Value | undefined): EmbeddedFont | undefined {
    if (!isReference(ref)) return undefined;
    const font = graph.dict(ref);
    const descriptor = graph.dict(font['/FontDescriptor']);
    const isSimple = /^\/(Type1|TrueType)$/.test(String(graph.get(font['/Subtype'])));
    const isEmbedded = ['/FontFile', '/FontFile2', '/FontFile3'].some((file) =>
      graph.isStream(descriptor[file]),
    );
    const isSubset = /^\/[A-Z]{6}\+/.test(String(graph.get(font['/BaseFont'])));
    const encoding = graph.get(font['/Encoding']);
    const hasCodes = typeof encoding === 'string' || isDictionary(encoding);
    const isUsable =
      isSimple && isEmbedded && !isSubset && hasCodes && graph.list(font['/Widths']).length > 0;
    return isUsable ? new EmbeddedFont(graph, name, ref) : undefined;
  }

  /** Sets a line, or returns `undefined` if it has a character whose code or width is not certain. */
  line(text: string): Line | undefined {
    if (!this.#codes.test(text)) return undefined;
    const codes = [...Buffer.from(text, 'latin1')];
    const widths = codes.map((code) =>
      this.#changed.has(code) ? 0 : (this.#widths[code - this.#first] ?? 0),
    );
    if (widths.some((width) => !(width > 0))) return undefined;
    const hex = Buffer.from(codes).toString('hex');
    return {
      width: widths.reduce((sum, width) => sum + width, 0) / 1000,
      height: this.#height,
      operators: (size) => `${this.#name} ${fixed(size)} Tf <${hex}> Tj`,
    };
  }
}

/** Returns the codes that `/Differences` gives other characters. */
function changedCodes(differences: readonly Value[]): Set<number> {
  const codes = new Set<number>();
  let code = 0;
  for (const each of differences) {
    if (typeof each === 'number') code = each;
    else codes.add(code++);
  }
  return codes;
}
