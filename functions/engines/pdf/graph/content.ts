import { toAscii } from '../../../shared/quote.ts';
import { type Graph, isReference, type Page, type ReadStream, type Value } from './graph.ts';

/** Lists what a content stream uses. Names are without their slash. */
export interface Content {
  /** The codes that are shown in each font, by the font's name. */
  readonly texts: ReadonlyMap<string, ReadonlySet<string>>;
  readonly objects: ReadonlySet<string>;
  readonly patterns: ReadonlySet<string>;
  /** Whether colors are CMYK without a profile. */
  readonly isCmyk: boolean;
  /** Whether a real number is larger than PDF/A-1 allows. */
  readonly isWide: boolean;
  readonly problems: ReadonlySet<string>;
  /** The width that a glyph of a Type 3 font declares. */
  readonly glyphWidth: number | undefined;
}

const OPERATORS = new Set(
  (
    'b B b* B* BDC BMC BT BX c cm CS cs d d0 d1 Do DP EMC ET EX f F f* G g gs h i j J K k l m M MP n q Q re RG rg ri s S ' +
    'SC sc SCN scn sh T* Tc Td TD Tf Tj TJ TL Tm Tr Ts Tw Tz v w W W* y \' "'
  ).split(' '),
);
const INTENTS = ['RelativeColorimetric', 'AbsoluteColorimetric', 'Perceptual', 'Saturation'];
/** Maximum depth of saved states (ISO 19005-2, 6.1.13). */
const MAX_STATES = 28;
/** Maximum number of tokens that are read. */
const MAX_TOKENS = 50_000_000;

type Token =
  | { readonly kind: 'number'; readonly value: number; readonly isReal: boolean }
  | { readonly kind: 'name' | 'text' | 'operator'; readonly value: string }
  | { readonly kind: 'mark'; readonly value: string };

/** Reads a content stream. What cannot be read is a problem. */
export function readContent(bytes: Buffer): Content {
  const texts = new Map<string, Set<string>>();
  const objects = new Set<string>();
  const patterns = new Set<string>();
  const problems = new Set<string>();
  let isCmyk = false;
  let isWide = false;
  let glyphWidth: number | undefined;
  let operands: Token[] = [];
  let font: string | undefined;
  const saved: Array<string | undefined> = [];
  const scanner = new Scanner(bytes.toString('latin1'));
  const show = () => {
    const shown = operands.filter(({ kind }) => kind === 'text');
    if (font === undefined) return;
    const codes = texts.get(font) ?? new Set();
    texts.set(font, codes);
    for (const { value } of shown) codes.add(String(value));
  };
  for (let count = 0; ; count += 1) {
    const token = scanner.next();
    if (!token) break;
    if (count > MAX_TOKENS) {
      problems.add('A page has too much content to be verified.');
      break;
    }
    if (token.kind !== 'operator') {
      operands.push(token);
      if (token.kind === 'number') isWide ||= token.isReal && Math.abs(token.value) > 32_767;
      continue;
    }
    const named = operands.findLast(({ kind }) => kind === 'name')?.value as string | undefined;
    switch (token.value) {
      case 'Tf':
        font = named;
        if (font !== undefined && !texts.has(font)) texts.set(font, new Set());
        break;
      case 'Tj':
      case 'TJ':
      case "'":
      case '"':
        show();
        break;
      case 'q':
        saved.push(font);
        if (saved.length > MAX_STATES)
          problems.add(`The graphics state is saved more than ${MAX_STATES} times.`);
        break;
      case 'Q':
        if (saved.length === 0)
          problems.add('A content stream restores a graphics state that was not saved.');
        font = saved.pop();
        break;
      case 'Do':
        if (named !== undefined) objects.add(named);
        break;
      case 'SCN':
      case 'scn':
        if (named !== undefined) patterns.add(named);
        break;
      case 'K':
      case 'k':
        isCmyk = true;
        break;
      case 'CS':
      case 'cs':
        isCmyk ||= named === 'DeviceCMYK';
        break;
      case 'ri':
        if (!INTENTS.includes(named ?? ''))
          problems.add(`The rendering intent ${toAscii(named ?? '')} is not defined.`);
        break;
      case 'd0':
      case 'd1': {
        const [width] = operands;
        if (width?.kind === 'number') glyphWidth = width.value;
        break;
      }
      case 'BI': {
        const image = scanner.inlineImage();
        isCmyk ||= /\/(DeviceCMYK|CMYK)\b/.test(image);
        if (/\/(LZW|LZWDecode)\b/.test(image)) problems.add('An image inside a page uses LZW compression.');
        if (/\/(I|Interpolate)\s+true/.test(image)) problems.add('An image inside a page is interpolated.');
        break;
      }
      default:
        if (!OPERATORS.has(token.value))
          problems.add('A content stream has an operator that is not defined.');
    }
    operands = [];
  }
  return { texts, objects, patterns, isCmyk, isWide, problems, glyphWidth };
}

const NUMBER = /[+-]*(?:\d+\.?\d*|\.\d+)(?:-\d*)?/y;
const WORD = /[^\s\0()<>[\]{}/%]+/y;
const DICTIONARY_MARK = /<<|>>/y;
const SPACE = /(?:[\s\0]+|%[^\r\n]*)+/y;

/** Reads the tokens of a content stream. */
export class Scanner {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  /** Index of the first character that was not read. */
  get position(): number {
    return this.#at;
  }

  next(): Token | undefined {
    this.#match(SPACE);
    const first = this.#text[this.#at];
    if (first === undefined) return undefined;
    if (first === '/') {
      this.#at += 1;
      return { kind: 'name', value: decodeName(this.#match(WORD) ?? '') };
    }
    if (first === '(') return { kind: 'text', value: this.#literal() };
    if (first === '<' && this.#text[this.#at + 1] !== '<') {
      const end = this.#text.indexOf('>', this.#at);
      const digits = this.#text.slice(this.#at + 1, end < 0 ? undefined : end).replace(/[^0-9a-f]/gi, '');
      this.#at = end < 0 ? this.#text.length : end + 1;
      const even = digits.length % 2 === 0 ? digits : `${digits}0`;
      return { kind: 'text', value: Buffer.from(even, 'hex').toString('latin1') };
    }
    const number = this.#match(NUMBER);
    if (number !== undefined)
      return { kind: 'number', value: Number.parseFloat(number), isReal: number.includes('.') };
    const word = this.#match(WORD);
    if (word === 'true' || word === 'false' || word === 'null') return { kind: 'mark', value: word };
    if (word !== undefined) return { kind: 'operator', value: word };
    const mark = this.#match(DICTIONARY_MARK) ?? first;
    if (mark === first) this.#at += 1;
    return { kind: 'mark', value: mark };
  }

  /** Skips an image after `BI`, and returns its dictionary. */
  inlineImage(): string {
    const start = this.#at;
    const data = /[\s\0]ID[\s\0]/g;
    data.lastIndex = start;
    if (!data.exec(this.#text)) {
      this.#at = this.#text.length;
      return '';
    }
    const dictionary = this.#text.slice(start, data.lastIndex);
    // The bytes of an image may look like its end, which is followed by text, not by binary data.
    const end = /[\s\0]EI(?=[\s\0][\s\x20-\x7e]{0,10}(?:[^\x80-\xff]|$)|$)/g;
    end.lastIndex = data.lastIndex - 1;
    this.#at = end.exec(this.#text) ? end.lastIndex : this.#text.length;
    return dictionary;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found !== undefined) this.#at += found.length;
    return found;
  }

  #literal(): string {
    const bytes: string[] = [];
    let depth = 0;
    for (; this.#at < this.#text.length; this.#at += 1) {
      const character = this.#text[this.#at]!;
      if (character === '\\') {
        this.#at += 1;
        bytes.push(this.#escaped());
        continue;
      }
      if (character === '(') {
        depth += 1;
        if (depth === 1) continue;
      }
      if (character === ')') {
        depth -= 1;
        if (depth === 0) {
          this.#at += 1;
          break;
        }
      }
      bytes.push(character);
    }
    return bytes.join('');
  }

  /** Reads what follows a backslash, and stays at its last character. */
  #escaped(): string {
    const octal = /[0-7]{1,3}/y;
    octal.lastIndex = this.#at;
    const digits = octal.exec(this.#text)?.[0];
    if (digits !== undefined) {
      this.#at += digits.length - 1;
      return String.fromCharCode(Number.parseInt(digits, 8) & 0xff);
    }
    const character = this.#text[this.#at] ?? '';
    if (character === '\r' && this.#text[this.#at + 1] === '\n') this.#at += 1;
    if (character === '\r' || character === '\n') return '';
    return { n: '\n', r: '\r', t: '\t', b: '\b', f: '\f' }[character] ?? character;
  }
}

function decodeName(name: string): string {
  return name.replace(/#([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
}

/** Operators that end what others begin. */
const ENDS = { BT: 'ET', BMC: 'EMC', BDC: 'EMC', q: 'Q' } as const;

/** Returns the content streams of all pages. */
export function contentStreams(graph: Graph): string[] {
  return [...new Set(graph.pages.flatMap((page) => streamsOf(graph, page)))].filter(isReference);
}

function streamsOf(graph: Graph, { dict: { '/Contents': contents } }: Page): readonly Value[] {
  return Array.isArray(graph.get(contents)) ? graph.list(contents) : contents ? [contents] : [];
}

/** Ends the contents of pages, so that what is drawn after them starts in the state in which they start. */
export class ContentEnds {
  readonly #graph: Graph;
  readonly #read: ReadStream;
  /** Streams by their content. */
  readonly #streams = new Map<string, string>();

  constructor(graph: Graph, read: ReadStream) {
    this.#graph = graph;
    this.#read = read;
  }

  /** Returns the content streams of a page, which save and restore its state. */
  contentsOf(page: Page): readonly Value[] {
    const own = streamsOf(this.#graph, page);
    const parts = own.map((each) => this.#read(each));
    // Streams that cannot be read are taken as complete.
    const text = parts.map((part) => part?.toString('latin1') ?? '').join('\n');
    const { ends, excess } = findEnds(text);
    const isReadable = parts.every((part) => part !== undefined);
    return [
      this.#stream('q\n'),
      ...(isReadable && excess.length > 0 ? [this.#graph.addStream({}, without(text, excess))] : own),
      this.#stream(`\n${ends}Q\n`),
    ];
  }

  #stream(text: string): string {
    const ref = this.#streams.get(text) ?? this.#graph.addStream({}, text);
    this.#streams.set(text, ref);
    return ref;
  }
}

/** Returns the operators that are missing at the end of a content stream, and the places of each `Q` without `q`. */
function findEnds(text: string): { readonly ends: string; readonly excess: readonly number[] } {
  const open = { EMC: 0, ET: 0, Q: 0 };
  const excess: number[] = [];
  const scanner = new Scanner(text);
  for (let token = scanner.next(); token; token = scanner.next()) {
    if (token.kind !== 'operator') continue;
    const { value } = token;
    if (value === 'BI') scanner.inlineImage();
    else if (value === 'BT' || value === 'BMC' || value === 'BDC' || value === 'q') open[ENDS[value]] += 1;
    else if (value === 'EMC' || value === 'ET' || value === 'Q') {
      // Viewers ignore a Q without q. Between other operators that save and restore a state, it would restore that.
      if (open[value] === 0 && value === 'Q') excess.push(scanner.position - 1);
      open[value] = Math.max(0, open[value] - 1);
    }
  }
  return { ends: `${'EMC '.repeat(open.EMC)}${'ET '.repeat(open.ET)}${'Q '.repeat(open.Q)}`, excess };
}

function without(text: string, places: readonly number[]): Buffer {
  const bytes = Buffer.from(text, 'latin1');
  for (const place of places) bytes[place] = 0x20;
  return bytes;
}
