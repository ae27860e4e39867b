export const COLOURS = ['#2563eb', '#d97706', '#059669', '#9333ea', '#dc2626'] as const;
export const GREY = '#6b7280';
export const PALE = '#e5e7eb';

/** Position and size of a chart in pixels. */
export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

type Attributes = Readonly<Record<string, string | number>>;

/** Writes one element without content. */
export function element(name: string, attributes: Attributes): string {
  return `<${name}${written(attributes)}/>`;
}

/** Writes a text. `anchor` is the end that is placed at x. */
export function label(
  text: string,
  x: number,
  y: number,
  {
    anchor = 'start',
    size = 11,
    fill = '#111827',
    weight = 400,
  }: {
    anchor?: 'start' | 'middle' | 'end';
    size?: number;
    fill?: string;
    weight?: number;
  } = {},
): string {
  const attributes = {
    x: round(x),
    y: round(y),
    'text-anchor': anchor,
    'font-size': size,
    fill,
    'font-weight': weight,
  };
  return `<text${written(attributes)}>${escaped(text)}</text>`;
}

export function stroke(points: ReadonlyArray<readonly [number, number]>, colour: string, width = 2): string {
  return element('polyline', {
    points: points.map(([x, y]) => `${round(x)},${round(y)}`).join(' '),
    fill: 'none',
    stroke: colour,
    'stroke-width': width,
  });
}

/** Maps values to pixels, on a linear or logarithmic scale. */
export function scale(
  [from, to]: readonly [number, number],
  [start, end]: readonly [number, number],
  logarithmic = false,
): (value: number) => number {
  const place = logarithmic ? Math.log : (value: number) => value;
  return (value) => start + ((place(value) - place(from)) / (place(to) - place(from))) * (end - start);
}

/** Returns round values that divide a range from 0 into a few steps. */
export function ticks(most: number, steps = 4): number[] {
  const rough = most / steps;
  const power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((factor) => factor * power).find((each) => each >= rough)!;
  return Array.from({ length: Math.floor(most / step) + 1 }, (_, index) => index * step);
}

function written(attributes: Attributes): string {
  return Object.entries(attributes)
    .map(([name, value]) => ` ${name}="${escaped(String(value))}"`)
    .join('');
}

function round(value: number): number {
  return Math.round(10 * value) / 10;
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
