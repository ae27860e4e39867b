import { boxOf } from './draw.ts';
import { EmbeddedFont } from './embedded-font.ts';
import { type FontName, similarFont } from './fonts.ts';
import { type Dictionary, type Graph, textOf, type Value } from './graph.ts';
import { directionOf, fixed, type Line, type Typesetter } from './typesetter.ts';

/** Distance of text from the edges of its field, and the height of a line relative to the font size. */
const PADDING = 2;
const LEADING = 1.15;
const MAX_AUTO_SIZE = 12;
/** Maximum characters of a default appearance. It has a font and a color, and a form may have thousands of fields. */
const MAX_DEFAULTS = 200;
const MIN_AUTO_SIZE = 4;
/** The color of chosen items of a list. */
const CHOSEN = '0.6 0.757 0.855 rg';
/** Marks of buttons by their codes in ZapfDingbats. */
const MARKS: Readonly<Record<string, string>> = {
  3: '✓',
  4: '✔',
  5: '✕',
  8: '✘',
  l: '●',
  u: '◆',
  n: '■',
  H: '★',
};

/** A text field. `cells` is the number of its cells, if each character has its own. */
interface TextContent {
  readonly lines: readonly string[];
  readonly isMultiline: boolean;
  readonly cells?: number | undefined;
}

/** A list. `top` is the index of the first item that is visible. */
interface ListContent {
  readonly items: readonly string[];
  readonly chosen: ReadonlySet<number>;
  readonly top: number;
}

/** Draws the appearance of a widget of a field. */
export class FieldAppearance {
  readonly #graph: Graph;
  readonly #typesetter: Typesetter;
  readonly #ref: string;
  readonly #dict: Dictionary;
  readonly #look: Dictionary;
  readonly #turns: number;
  readonly #width: number;
  readonly #height: number;
  readonly #alignment: number;
  readonly #color: string;
  /** Font size that the field states, or 0. */
  readonly #size: number;
  /** The font that the field states, if it can be used, or a font of the layer. */
  readonly #own: EmbeddedFont | undefined;
  readonly #fontName: FontName;

  constructor(graph: Graph, field: Dictionary, widget: string, typesetter: Typesetter) {
    this.#graph = graph;
    this.#typesetter = typesetter;
    this.#ref = widget;
    this.#dict = { ...field, ...graph.dict(widget) };
    this.#look = graph.dict(this.#dict['/MK']);
    const [left, bottom, right, top] = boxOf(graph, this.#dict['/Rect']) ?? [0, 0, 0, 0];
    const [across, up] = [right - left, top - bottom];
    this.#turns = ((Math.round(graph.number(this.#look['/R']) / 90) % 4) + 4) % 4;
    [this.#width, this.#height] = this.#turns % 2 === 1 ? [up, across] : [across, up];
    this.#alignment = graph.number(this.#dict['/Q']);
    const defaults = (textOf(graph.get(this.#dict['/DA'])) ?? '').slice(0, MAX_DEFAULTS);
    const [, name = '', size = 0] = /(\/\S+)\s+([\d.]+)\s+Tf/.exec(defaults) ?? [];
    this.#size = Math.min(1000, Number(size) || 0);
    const { '/DR': resources } = graph.dict(graph.root['/AcroForm']);
    const font = graph.dict(graph.dict(resources)['/Font'])[name];
    this.#own = EmbeddedFont.open(graph, name, font);
    this.#fontName = similarFont(String(graph.get(graph.dict(font)['/BaseFont']) ?? name));
    this.#color = /((?:[\d.]+\s+){3}rg|(?:[\d.]+\s+){4}k|[\d.]+\s+g)(?=\s|$)/.exec(defaults)?.[1] ?? '0 g';
  }

  drawText({ lines, isMultiline, cells }: TextContent): void {
    const { rows, size } = isMultiline ? this.#wrap(lines) : this.#setRows(lines);
    const isSingle = rows.length === 1 && !isMultiline;
    const placed =
      cells === undefined
        ? rows.map((row, index) =>
            this.#place(
              row,
              size,
              isSingle ? (this.#height - row.height * size) / 2 : this.#baseline(index, size),
            ),
          )
        : [...(lines[0] ?? '')].map((character, index, all) => {
            const cell = this.#set(character);
            const free = Math.max(0, cells - all.length);
            const first = this.#alignment === 1 ? Math.floor(free / 2) : this.#alignment === 2 ? free : 0;
            const x = (this.#width / cells) * (first + index + 0.5) - (cell.width * size) / 2;
            return this.#place(cell, size, (this.#height - cell.height * size) / 2, x);
          });
    this.#write(this.#form(placed));
  }

  drawList({ items, chosen, top }: ListContent): void {
    const size = this.#size || MAX_AUTO_SIZE;
    const shown = items.slice(top, top + Math.ceil(this.#height / (LEADING * size)));
    const marks = shown.flatMap((_, index) =>
      chosen.has(top + index)
        ? [
            `1 ${fixed(this.#baseline(index, size) - 0.25 * size)} ${fixed(this.#width - 2)} ${fixed(LEADING * size)} re`,
          ]
        : [],
    );
    const rows = shown.map((item, index) => this.#place(this.#set(item), size, this.#baseline(index, size)));
    this.#write(this.#form(rows, marks.length > 0 ? `${CHOSEN} ${marks.join(' ')} f` : ''));
  }

  /** Returns the number of items of a list that are visible at the same time. */
  get rowCount(): number {
    return Math.max(1, Math.floor((this.#height - PADDING) / (LEADING * (this.#size || MAX_AUTO_SIZE))));
  }

  /** Draws the states of a check box or of a radio button. */
  drawButton(state: string, isRadio: boolean): void {
    const mark = this.#typesetter.line(
      MARKS[textOf(this.#look['/CA']) ?? ''] ?? (isRadio ? '●' : '✔'),
      'Helvetica',
    );
    const [x, y] = [this.#width, this.#height];
    const size = this.#size || Math.max(1, Math.min(0.8 * y, (0.8 * x) / mark.width));
    const on = this.#place(mark, size, (y - mark.height * size) / 2, (x - mark.width * size) / 2);
    const states = { [state]: this.#form([on]), '/Off': this.#form([]) };
    this.#graph.merge(this.#ref, { '/AP': { '/N': states } });
  }

  #set(text: string, direction = directionOf(text)): Line {
    const shown = text === '' ? ' ' : text;
    return this.#own?.line(shown) ?? this.#typesetter.line(shown, this.#fontName, direction);
  }

  #setRows(lines: readonly string[]): { readonly rows: readonly Line[]; readonly size: number } {
    const rows = lines.map((line) => this.#set(line));
    const widest = Math.max(...rows.map(({ width }) => width), 0.01);
    const fitting = Math.min(0.7 * this.#height, this.#room / widest, 3 * MAX_AUTO_SIZE);
    return { rows, size: this.#size || Math.max(MIN_AUTO_SIZE, fitting) };
  }

  /** Breaks paragraphs into rows that fit, at the stated size or the largest one at which all rows fit. */
  #wrap(paragraphs: readonly string[]): { readonly rows: readonly Line[]; readonly size: number } {
    for (let size = this.#size || MAX_AUTO_SIZE; ; size = Math.max(MIN_AUTO_SIZE, size - 1)) {
      const isLast = this.#size !== 0 || size <= MIN_AUTO_SIZE;
      const most = isLast ? Number.POSITIVE_INFINITY : (this.#height - 2 * PADDING) / (LEADING * size);
      // Setting a long text takes seconds, so it ends with the first row that does not fit.
      const rows: Line[] = [];
      for (const row of this.#rowsOf(paragraphs, this.#room / size)) if (rows.push(row) > most) break;
      if (rows.length <= most) return { rows, size };
    }
  }

  *#rowsOf(paragraphs: readonly string[], room: number): Generator<Line> {
    for (const paragraph of paragraphs) {
      const direction = directionOf(paragraph);
      let row = '';
      for (const word of paragraph.split(' ')) {
        const longer = row === '' ? word : `${row} ${word}`;
        if (row !== '' && this.#set(longer, direction).width > room) {
          yield this.#set(row, direction);
          row = word;
        } else row = longer;
      }
      yield this.#set(row, direction);
    }
  }

  get #room(): number {
    return Math.max(1, this.#width - 2 * PADDING);
  }

  #baseline(index: number, size: number): number {
    return this.#height - PADDING - (0.9 + index * LEADING) * size;
  }

  #place(line: Line, size: number, y: number, x?: number): string {
    const free = this.#width - 2 * PADDING - line.width * size;
    const left = PADDING + (this.#alignment === 1 ? free / 2 : this.#alignment === 2 ? free : 0);
    return `1 0 0 1 ${fixed(x ?? left)} ${fixed(y)} Tm ${line.operators(size)}`;
  }

  #write(appearance: string): void {
    this.#graph.merge(this.#ref, { '/AP': { '/N': appearance }, '/AS': null });
  }

  /** Adds a form with texts over a background. */
  #form(texts: readonly string[], background = ''): string {
    const [width, height] = [this.#width, this.#height];
    const content = [
      ...this.#box(),
      '/Tx BMC q',
      `1 1 ${fixed(Math.max(0, width - 2))} ${fixed(Math.max(0, height - 2))} re W n ${background}`,
      `BT ${this.#color} ${texts.join(' ')} ET`,
      'Q EMC',
    ];
    const turn = [
      [1, 0, 0, 1, 0, 0],
      [0, 1, -1, 0, height, 0],
      [-1, 0, 0, -1, width, height],
      [0, -1, 1, 0, 0, width],
    ][this.#turns]!;
    return this.#graph.addStream(
      {
        '/Type': '/XObject',
        '/Subtype': '/Form',
        '/BBox': [0, 0, width, height],
        '/Matrix': turn,
        '/Resources': { '/Font': { ...this.#typesetter.fonts(), ...this.#own?.resource } },
      },
      content.join('\n'),
    );
  }

  /** Draws the background and the border. */
  #box(): string[] {
    const colorOf = (value: Value | undefined, names: readonly [string, string, string]) => {
      const channels = this.#graph.list(value).map((each) => this.#graph.number(each));
      const name = { 1: names[0], 3: names[1], 4: names[2] }[channels.length];
      return name && `${channels.map(fixed).join(' ')} ${name}`;
    };
    const { '/BG': background, '/BC': border } = this.#look;
    const [fill, stroke] = [colorOf(background, ['g', 'rg', 'k']), colorOf(border, ['G', 'RG', 'K'])];
    const line = this.#graph.number(this.#graph.dict(this.#dict['/BS'])['/W'], 1);
    const [width, height] = [this.#width, this.#height];
    const inner = `${fixed(line / 2)} ${fixed(line / 2)} ${fixed(width - line)} ${fixed(height - line)} re`;
    return [
      ...(fill ? [`q ${fill} 0 0 ${fixed(width)} ${fixed(height)} re f Q`] : []),
      ...(stroke && line > 0 ? [`q ${stroke} ${fixed(line)} w ${inner} S Q`] : []),
    ];
  }
}
