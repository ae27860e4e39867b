import { type Dictionary, type Graph, isReference, type Value } from './graph.ts';
import { fixed } from './typesetter.ts';

type Point = readonly [x: number, y: number];

/** Length of line endings, in widths of the line. */
const ENDING = 6;
/** Maximum number of corners, and maximum coordinate: no page is that large. */
const MAX_CORNERS = 10_000;
const MAX_COORDINATE = 1e6;
/** Control points of Bézier curves that draw a circle, relative to its radius. */
const ARC = 0.5523;

/** Draws lines and polygons without an appearance, which PDFium and qpdf leave out. */
export function drawAnnotations(graph: Graph): void {
  const seen = new Set<string>();
  for (const { dict } of graph.pages) {
    for (const ref of graph.list(dict['/Annots'])) {
      if (!isReference(ref) || seen.has(ref)) continue;
      seen.add(ref);
      const annotation = graph.dict(ref);
      const kind = graph.get(annotation['/Subtype']);
      if (kind !== '/Line' && kind !== '/PolyLine' && kind !== '/Polygon') continue;
      if (graph.get(graph.dict(annotation['/AP'])['/N']) === null) drawPath(graph, ref, annotation, kind);
    }
  }
}

function drawPath(
  graph: Graph,
  ref: string,
  annotation: Dictionary,
  kind: '/Line' | '/PolyLine' | '/Polygon',
): void {
  const corners = pointsOf(graph, annotation[kind === '/Line' ? '/L' : '/Vertices']);
  if (corners.length < 2) return;
  const { '/BS': style, '/Border': border, '/CA': opacity, '/C': color, '/IC': inner } = annotation;
  const { '/W': stated, '/S': shape, '/D': dashes } = graph.dict(style);
  const [, , third, fourth] = graph.list(border);
  const width = Math.max(0, graph.number(stated ?? third, 1));
  const pattern = shape === '/D' ? graph.list(dashes ?? [3]) : style === undefined ? graph.list(fourth) : [];
  const dash = pattern.map((each) => Math.max(0, graph.number(each)));
  const fill = colorOf(graph, inner, ['g', 'rg', 'k']);
  const [first, last] = kind === '/Polygon' ? [] : graph.list(annotation['/LE']);
  const endings = [
    endingOf(graph.get(first), corners[0]!, corners[1]!, width),
    endingOf(graph.get(last), corners.at(-1)!, corners.at(-2)!, width),
  ];
  const path = [endings[0]!.base, ...corners.slice(1, -1), endings[1]!.base];
  const isClosed = kind === '/Polygon';
  const paint = (closed: boolean) => (fill && closed ? 'b' : closed ? 's' : 'S');
  const state = graph.number(opacity, 1);
  const operators = [
    state < 1 ? '/DmO gs' : '',
    colorOf(graph, color, ['G', 'RG', 'K']) ?? '0 G',
    fill ?? '',
    `${fixed(width)} w`,
    width > 0 || isClosed
      ? `${dash.some((each) => each > 0) ? `[${dash.map(fixed).join(' ')}] 0 d ` : ''}${lines(path)} ${paint(isClosed)} [] 0 d`
      : '',
    ...endings.map(({ shape: drawn, isClosed: closed }) => (drawn === '' ? '' : `${drawn} ${paint(closed)}`)),
  ];
  const margin = width * (ENDING + 1) + 1;
  const [xs, ys] = [corners.map(([x]) => x), corners.map(([, y]) => y)];
  const box = [
    Math.min(...xs) - margin,
    Math.min(...ys) - margin,
    Math.max(...xs) + margin,
    Math.max(...ys) + margin,
  ];
  const appearance = graph.addStream(
    {
      '/Type': '/XObject',
      '/Subtype': '/Form',
      '/BBox': box,
      '/Resources': state < 1 ? { '/ExtGState': { '/DmO': { '/ca': state, '/CA': state } } } : {},
    },
    operators.filter((each) => each !== '').join('\n'),
  );
  graph.merge(ref, { '/AP': { '/N': appearance }, '/Rect': box });
}

function pointsOf(graph: Graph, value: Value | undefined): Point[] {
  const numbers = graph
    .list(value)
    .slice(0, 2 * MAX_CORNERS)
    .map((each) => graph.number(each, Number.NaN));
  if (numbers.some((each) => !(Math.abs(each) <= MAX_COORDINATE))) return [];
  return Array.from({ length: Math.floor(numbers.length / 2) }, (_, at) => [
    numbers[2 * at]!,
    numbers[2 * at + 1]!,
  ]);
}

function colorOf(
  graph: Graph,
  value: Value | undefined,
  names: readonly [string, string, string],
): string | undefined {
  const channels = graph.list(value).map((each) => graph.number(each));
  const name = { 1: names[0], 3: names[1], 4: names[2] }[channels.length];
  return name && `${channels.map(fixed).join(' ')} ${name}`;
}

function lines(points: readonly Point[]): string {
  return points.map(([x, y], index) => `${fixed(x)} ${fixed(y)} ${index === 0 ? 'm' : 'l'}`).join(' ');
}

interface Ending {
  /** Operators of a path, or an empty text. */
  readonly shape: string;
  readonly isClosed: boolean;
  /** Where the line begins, so that it does not show through the ending. */
  readonly base: Point;
}

/** Returns the ending at `tip` of a line that comes from `from` (ISO 32000-1, table 176). */
function endingOf(name: Value, tip: Point, from: Point, width: number): Ending {
  const size = ENDING * Math.max(width, 0.5);
  const distance = Math.hypot(from[0] - tip[0], from[1] - tip[1]) || 1;
  const [cos, sin] = [(from[0] - tip[0]) / distance, (from[1] - tip[1]) / distance];
  /** A point `along` the line from its tip, and `across` it. */
  const at = (along: number, across: number): Point => [
    tip[0] + along * cos - across * sin,
    tip[1] + along * sin + across * cos,
  ];
  const half = size / 2;
  const closed = (points: readonly Point[], base: Point): Ending => ({
    shape: lines(points),
    isClosed: true,
    base,
  });
  const open = (points: readonly Point[]): Ending => ({ shape: lines(points), isClosed: false, base: tip });
  switch (name) {
    case '/OpenArrow':
      return open([at(size, half), tip, at(size, -half)]);
    case '/ROpenArrow':
      return open([at(-size, half), tip, at(-size, -half)]);
    case '/ClosedArrow':
      return closed([at(size, half), tip, at(size, -half)], at(Math.min(size, distance), 0));
    case '/RClosedArrow':
      return closed([at(-size, half), tip, at(-size, -half)], tip);
    case '/Butt':
      return open([at(0, half), at(0, -half)]);
    case '/Slash':
      return open([at(half / 2, half), at(-half / 2, -half)]);
    case '/Square':
      return closed([at(half, half), at(half, -half), at(-half, -half), at(-half, half)], at(half, 0));
    case '/Diamond':
      return closed([at(half, 0), at(0, -half), at(-half, 0), at(0, half)], at(half, 0));
    case '/Circle': {
      const arc = ARC * half;
      const curves = [
        [at(half, arc), at(arc, half), at(0, half)],
        [at(-arc, half), at(-half, arc), at(-half, 0)],
        [at(-half, -arc), at(-arc, -half), at(0, -half)],
        [at(arc, -half), at(half, -arc), at(half, 0)],
      ].map((curve) => `${curve.flat().map(fixed).join(' ')} c`);
      return { shape: `${lines([at(half, 0)])} ${curves.join(' ')}`, isClosed: true, base: at(half, 0) };
    }
    default:
      return { shape: '', isClosed: false, base: tip };
  }
}
