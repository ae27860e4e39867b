import type { Size } from '../../../shared/options/geometry.ts';
import type { ContentEnds } from './content.ts';
import { type Dictionary, type Graph, isReference, type Page, type Value } from './graph.ts';
import { fixed, type Typesetter } from './typesetter.ts';
import type { GraphWork, Place, Stamp, Text } from './work.ts';

/** Share of the page's diagonal or width that a watermark spans. */
const SPAN = 0.8;
/** Maximum font size of a watermark in points. */
const MAX_SIZE = 400;

/**
 * The blend modes and grays of rectangles that cover a page. `/Color` removes hue and saturation. The others double
 * the distance from white, and make white of all that is not black then.
 */
const COVERS: Readonly<Record<GraphWork['color'], ReadonlyArray<readonly [mode: string, gray: number]>>> = {
  rgb: [],
  gray: [['/Color', 1]],
  mono: [
    ['/Color', 1],
    ['/ColorBurn', 0.5],
    // Programs differ in what they do with 1.
    ['/ColorDodge', 0.996],
  ],
};

/** Draws stamps and texts on pages. `sheets` are the pages that contain the stamps. */
export function drawOnPages(
  graph: Graph,
  sheets: readonly Page[],
  { stamps, texts, color: pageColor, pageCount, isFlat }: GraphWork,
  typesetter: Typesetter,
  contents: ContentEnds,
): void {
  const canvases = new Map<number, PageCanvas>();
  const canvasOf = (index: number) => {
    const page = graph.pages[index];
    if (!page) return undefined;
    const canvas = canvases.get(index) ?? new PageCanvas(graph, page);
    canvases.set(index, canvas);
    return canvas;
  };
  const states = new Map<number, string>();
  const stateOf = (opacity: number) => {
    if (opacity >= 1) return undefined;
    const ref = states.get(opacity) ?? graph.add({ '/Type': '/ExtGState', '/ca': opacity, '/CA': opacity });
    states.set(opacity, ref);
    return ref;
  };

  for (const stamp of stamps) drawStamp(stamp);
  for (const text of texts) drawText(text);
  for (const [mode, gray] of COVERS[pageColor]) {
    const state = graph.add({ '/Type': '/ExtGState', '/BM': mode });
    for (let index = 0; index < pageCount; index += 1) canvasOf(index)?.cover(state, gray);
  }
  for (const [index, { ref, dict }] of graph.pages.entries()) {
    if (!isFlat || dict['/Annots'] === undefined) continue;
    // qpdf draws annotations that become part of a page after its contents.
    canvasOf(index);
    // It empties the list with the first of the pages that share it.
    graph.merge(ref, { '/Annots': graph.list(dict['/Annots']) });
  }
  for (const canvas of canvases.values()) canvas.finish(contents);

  function drawStamp({ pages, place, opacity, first, count, isUnder, scale }: Stamp): void {
    const forms = sheets.slice(first, first + count).map((sheet) => formOf(graph, sheet));
    const state = stateOf(opacity);
    for (const [index, form] of forms.entries()) {
      // As a group, its parts do not show through each other.
      if (form && state) graph.merge(form.ref, { '/Group': { '/S': '/Transparency' } });
      forms[index] = form;
    }
    for (const index of pages) {
      const canvas = canvasOf(index);
      const form = forms[Math.min(index, forms.length - 1)];
      if (!canvas || !form) continue;
      const { shown } = canvas;
      const fit = Math.min(shown.width / form.width, shown.height / form.height);
      const factor = scale === 'fit' ? fit : (scale ?? Math.min(1, fit));
      const size = { width: form.width * factor, height: form.height * factor };
      const [left, bottom] = positionOf(place, size, shown);
      const matrix: Matrix = [factor, 0, 0, factor, left - form.left * factor, bottom - form.bottom * factor];
      canvas.draw(form.ref, matrix, { state, isUnder });
    }
  }

  function drawText({ pages, place, opacity, text, start, font, size, color, angle }: Text): void {
    const last = start === undefined ? 0 : start + pageCount - 1;
    const forms = new Map<string, { ref: string; width: number; height: number }>();
    const [cos, sin] = [Math.cos((angle * Math.PI) / 180), Math.sin((angle * Math.PI) / 180)];
    for (const index of pages) {
      const canvas = canvasOf(index);
      if (!canvas) continue;
      const shownText =
        start === undefined
          ? text
          : text.replace(/%[pn]/g, (name) => String(name === '%p' ? start + index : last));
      const { shown } = canvas;
      const line = typesetter.line(shownText, font);
      const points = size ?? spanning(line, shown, [Math.abs(cos), Math.abs(sin)]);
      const key = `${points}/${shownText}`;
      const form = forms.get(key) ?? write(line, points);
      forms.set(key, form);
      // Size of the turned text.
      const box = {
        width: form.width * Math.abs(cos) + form.height * Math.abs(sin),
        height: form.width * Math.abs(sin) + form.height * Math.abs(cos),
      };
      const [left, bottom] = positionOf(place, box, shown);
      const [x, y] = [left + box.width / 2, bottom + box.height / 2];
      const [across, up] = [form.width / 2, form.height / 2];
      const matrix: Matrix = [cos, sin, -sin, cos, x - across * cos + up * sin, y - across * sin - up * cos];
      canvas.draw(form.ref, matrix, { state: stateOf(opacity) });
    }

    function write(line: ReturnType<Typesetter['line']>, points: number) {
      const [width, height] = [line.width * points, line.height * points];
      const content = `BT ${operators(color)} rg ${line.operators(points)} ET`;
      const ref = graph.addStream(
        {
          '/Type': '/XObject',
          '/Subtype': '/Form',
          // Letters may extend beyond their own space.
          '/BBox': [-points, -points, width + points, height + points].map((side) => Number(fixed(side))),
          '/Resources': { '/Font': typesetter.fonts() },
          '/Group': { '/S': '/Transparency' },
        },
        content,
      );
      return { ref, width, height };
    }
  }
}

/** Returns the font size at which a turned line spans the page. */
function spanning(
  { width, height }: { width: number; height: number },
  page: { width: number; height: number },
  [cos, sin]: readonly [number, number],
): number {
  const across = width * cos + height * sin;
  const down = width * sin + height * cos;
  return Math.min(MAX_SIZE, (SPAN * page.width) / across, (SPAN * page.height) / down);
}

/** Returns the form that qpdf made of a stamp's page, with its bounds. */
function formOf(graph: Graph, { dict }: Page) {
  const objects = graph.dict(graph.dict(dict['/Resources'])['/XObject']);
  // `/Fx0` is the empty page below.
  const ref = objects['/Fx1'];
  if (!isReference(ref)) return undefined;
  const form = graph.dict(ref);
  const box = boxOf(graph, form['/BBox']);
  if (!box) return undefined;
  const given = graph.list(form['/Matrix']).map((value) => graph.number(value));
  const [a = 1, b = 0, c = 0, d = 1, e = 0, f = 0] = given.length === 6 ? given : [];
  const corners = [0, 2].flatMap((x) => [1, 3].map((y) => [box[x]!, box[y]!] as const));
  const xs = corners.map(([x, y]) => a * x + c * y + e);
  const ys = corners.map(([x, y]) => b * x + d * y + f);
  const [left, bottom] = [Math.min(...xs), Math.min(...ys)];
  return { ref, left, bottom, width: Math.max(...xs) - left, height: Math.max(...ys) - bottom };
}

type Matrix = readonly [number, number, number, number, number, number];

const MILLIMETER = 72 / 25.4;
/** A4, for a page without a valid size. */
const DEFAULT_BOX = [0, 0, 595, 842];

/** A page as it is displayed: its size in points, and the transformation from displayed coordinates to its own. */
interface Displayed extends Size {
  readonly matrix: Matrix;
}

/** Returns the visible part of a page in points, with its rotation applied. */
export function displayed(graph: Graph, { dict }: Page): Displayed {
  const media = boxOf(graph, dict['/MediaBox']) ?? DEFAULT_BOX;
  const crop = boxOf(graph, dict['/CropBox']) ?? media;
  const [x0, y0] = [Math.max(media[0]!, crop[0]!), Math.max(media[1]!, crop[1]!)];
  const [x1, y1] = [Math.min(media[2]!, crop[2]!), Math.min(media[3]!, crop[3]!)];
  const [left, bottom, right, top] =
    x1 > x0 && y1 > y0 ? [x0, y0, x1, y1] : (media as [number, number, number, number]);
  const [across, up] = [right - left, top - bottom];
  const unit = userUnit(graph, dict);
  const [width, height] = [across * unit, up * unit];
  const side = 1 / unit;
  const rotation = ((Math.round(graph.number(dict['/Rotate']) / 90) % 4) + 4) % 4;
  switch (rotation) {
    case 1:
      return { width: height, height: width, matrix: [0, side, -side, 0, left + across, bottom] };
    case 2:
      return { width, height, matrix: [-side, 0, 0, -side, left + across, bottom + up] };
    case 3:
      return { width: height, height: width, matrix: [0, -side, side, 0, left, bottom + up] };
    default:
      return { width, height, matrix: [side, 0, 0, side, left, bottom] };
  }
}

/** Returns the size of a page's unit in points. */
export function userUnit(graph: Graph, page: Dictionary): number {
  const unit = graph.number(page['/UserUnit'], 1);
  return unit > 0 ? unit : 1;
}

/** Reads a rectangle as left, bottom, right and top. */
export function boxOf(graph: Graph, value: Value | undefined): [number, number, number, number] | undefined {
  const sides = graph.list(value).map((side) => graph.number(side, Number.NaN));
  if (sides.length !== 4 || sides.some((side) => !Number.isFinite(side))) return undefined;
  const [a, b, c, d] = sides as [number, number, number, number];
  const box: [number, number, number, number] = [
    Math.min(a, c),
    Math.min(b, d),
    Math.max(a, c),
    Math.max(b, d),
  ];
  return box[2] > box[0] && box[3] > box[1] ? box : undefined;
}

/** Returns the lower left corner of something of this size at its place on a page. */
function positionOf(place: Place, size: Size, page: Size): readonly [number, number] {
  const { gravity } = place;
  const [x, y] = [place.x * MILLIMETER, place.y * MILLIMETER];
  const left = gravity.endsWith('West')
    ? x
    : gravity.endsWith('East')
      ? page.width - size.width - x
      : (page.width - size.width) / 2 + x;
  const bottom = gravity.startsWith('South')
    ? y
    : gravity.startsWith('North')
      ? page.height - size.height - y
      : (page.height - size.height) / 2 + y;
  return [left, bottom];
}

/** Collects what is drawn on a page, and adds it to its content. */
class PageCanvas {
  readonly #graph: Graph;
  readonly #page: Page;
  readonly #under: string[] = [];
  readonly #over: string[] = [];
  readonly #objects = new Map<string, string>();
  readonly #states = new Map<string, string>();
  readonly shown: Displayed;

  constructor(graph: Graph, page: Page) {
    this.#graph = graph;
    this.#page = page;
    this.shown = displayed(graph, page);
  }

  /** Draws a form XObject. `matrix` maps it to displayed coordinates. */
  draw(
    form: string,
    matrix: Matrix,
    { state, isUnder = false }: { state?: string | undefined; isUnder?: boolean },
  ): void {
    const name = this.#nameOf(form, this.#objects, '/DmX');
    const opacity = state === undefined ? '' : `${this.#nameOf(state, this.#states, '/DmG')} gs `;
    const target = isUnder ? this.#under : this.#over;
    target.push(`q ${opacity}${operators(this.shown.matrix)} cm ${operators(matrix)} cm ${name} Do Q`);
  }

  /** Draws a gray rectangle over everything. */
  cover(state: string, gray: number): void {
    // Larger than any page.
    this.#over.push(
      `q ${this.#nameOf(state, this.#states, '/DmG')} gs ${gray} g -14400 -14400 28800 28800 re f Q`,
    );
  }

  /** Writes the page. */
  finish(contents: ContentEnds): void {
    const graph = this.#graph;
    const { ref, dict } = this.#page;
    const stream = (drawn: readonly string[]) =>
      drawn.length > 0 ? [graph.addStream({}, drawn.join('\n'))] : [];
    const resources = graph.dict(dict['/Resources']);
    const added = (name: string, entries: ReadonlyMap<string, string>): Dictionary =>
      entries.size === 0
        ? {}
        : {
            [name]: {
              ...graph.dict(resources[name]),
              ...Object.fromEntries([...entries].map(([object, as]) => [as, object])),
            },
          };
    graph.merge(ref, {
      '/Contents': [...stream(this.#under), ...contents.contentsOf(this.#page), ...stream(this.#over)],
      '/Resources': {
        ...resources,
        ...added('/XObject', this.#objects),
        ...added('/ExtGState', this.#states),
      },
    });
  }

  /** Returns a name in the page's resources that is not taken. */
  #nameOf(object: string, names: Map<string, string>, prefix: string): string {
    const known = names.get(object);
    if (known) return known;
    const resources = this.#graph.dict(this.#page.dict['/Resources']);
    const taken = this.#graph.dict(resources[prefix === '/DmX' ? '/XObject' : '/ExtGState']);
    let index = names.size;
    while (taken[`${prefix}${index}`] !== undefined || [...names.values()].includes(`${prefix}${index}`))
      index += 1;
    names.set(object, `${prefix}${index}`);
    return `${prefix}${index}`;
  }
}

function operators(matrix: readonly number[]): string {
  return matrix.map(fixed).join(' ');
}
