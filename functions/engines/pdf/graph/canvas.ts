import type { Size } from '../../../shared/options/geometry.ts';
import type { ContentEnds } from './contents.ts';
import type { Dictionary, Graph, Page, Value } from './graph.ts';
import type { Place } from './operations.ts';
import { fixed } from './typesetter.ts';

export type Matrix = readonly [number, number, number, number, number, number];

const MILLIMETER = 72 / 25.4;
/** A4, for a page without a valid size. */
const DEFAULT_BOX = [0, 0, 595, 842];

/** A page as it is displayed: its size in points, and the transformation from displayed coordinates to its own. */
export interface Displayed extends Size {
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
export function positionOf(place: Place, size: Size, page: Size): readonly [number, number] {
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
export class PageCanvas {
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

export function operators(matrix: readonly number[]): string {
  return matrix.map(fixed).join(' ');
}
