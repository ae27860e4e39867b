import { Scanner } from './archive/content.ts';
import { type Dictionary, type Graph, isReference, MAX_DEPTH, type Value } from './graph.ts';

/** An image and the pixels that it needs. */
export interface Reduced {
  readonly ref: string;
  readonly width: number;
  readonly height: number;
}

/** Images are only reduced if that removes more than a sixth of their pixels in each direction. */
const WORTHWHILE = 5 / 6;
/** Maximum number of forms and pages that are read. */
const MAX_VISITS = 50_000;

type Scale = readonly [a: number, b: number, c: number, d: number];
export type ReadStream = (ref: Value | undefined) => Buffer | undefined;

/** Returns the JPEGs that are shown at more than `dpi` wherever a page shows them, with their soft masks. */
export function largeImages(graph: Graph, read: ReadStream, dpi: number): Reduced[] {
  /** The largest size of each image in points. */
  const shown = new Map<string, { width: number; height: number }>();
  let visits = 0;
  const visit = (content: Buffer, resources: Dictionary, start: Scale, depth: number): void => {
    visits += 1;
    if (visits > MAX_VISITS || depth > MAX_DEPTH) return;
    const objects = graph.dict(resources['/XObject']);
    const saved: Scale[] = [];
    let scale = start;
    let operands: Array<string | number> = [];
    const scanner = new Scanner(content.toString('latin1'));
    for (let token = scanner.next(); token; token = scanner.next()) {
      if (token.kind !== 'operator') {
        if (operands.length < 10) operands.push(token.value);
        continue;
      }
      if (token.value === 'q') saved.push(scale);
      else if (token.value === 'Q') scale = saved.pop() ?? start;
      else if (token.value === 'cm') scale = times(operands.map(Number), scale);
      else if (token.value === 'BI') scanner.inlineImage();
      else if (token.value === 'Do') {
        const ref = objects[`/${operands[0]}`];
        const object = graph.dict(ref);
        if (object['/Subtype'] === '/Image' && isReference(ref)) {
          const { width = 0, height = 0 } = shown.get(ref) ?? {};
          const [across, up] = [Math.hypot(scale[0], scale[1]), Math.hypot(scale[2], scale[3])];
          shown.set(ref, { width: Math.max(width, across), height: Math.max(height, up) });
        } else if (object['/Subtype'] === '/Form') {
          const matrix = graph.list(object['/Matrix']).map((value) => graph.number(value));
          const inner = matrix.length === 6 ? times(matrix, scale) : scale;
          const own = object['/Resources'] === undefined ? resources : graph.dict(object['/Resources']);
          visit(read(ref) ?? Buffer.alloc(0), own, inner, depth + 1);
        }
      }
      operands = [];
    }
  };
  for (const { dict } of graph.pages) {
    const { '/Contents': contents, '/Resources': resources, '/UserUnit': unit } = dict;
    const streams = Array.isArray(graph.get(contents)) ? graph.list(contents) : [contents];
    const parts = streams.flatMap((each) => [read(each) ?? Buffer.alloc(0), Buffer.from('\n')]);
    const factor = graph.number(unit, 1);
    visit(Buffer.concat(parts), graph.dict(resources), [factor, 0, 0, factor], 0);
  }
  // Some places were not found.
  if (visits > MAX_VISITS) return [];
  return [...shown].flatMap(([ref, size]) => {
    const image = graph.dict(ref);
    const mask = image['/SMask'];
    const reduced = reducedSize(graph, ref, size, dpi);
    const isMatted = graph.dict(mask)['/Matte'] !== undefined;
    if (!reduced || image['/Mask'] !== undefined || isMatted) return [];
    const reducedMask = isReference(mask) ? reducedSize(graph, mask, size, dpi) : undefined;
    return reducedMask ? [reduced, reducedMask] : [reduced];
  });
}

function times(matrix: readonly number[], [a, b, c, d]: Scale): Scale {
  const [e = 1, f = 0, g = 0, h = 1] = matrix;
  return [e * a + f * c, e * b + f * d, g * a + h * c, g * b + h * d];
}

function reducedSize(
  graph: Graph,
  ref: string,
  shown: { readonly width: number; readonly height: number },
  dpi: number,
): Reduced | undefined {
  const image = graph.dict(ref);
  const filter = graph.get(image['/Filter']);
  const [only, ...others] = Array.isArray(filter) ? (filter as readonly Value[]) : [filter];
  const isPlain = image['/Decode'] === undefined && image['/DecodeParms'] === undefined;
  if (only !== '/DCTDecode' || others.length > 0 || !isPlain) return undefined;
  const [width, height] = [graph.number(image['/Width']), graph.number(image['/Height'])];
  const factor = Math.max(
    ((shown.width / 72) * dpi) / Math.max(1, width),
    ((shown.height / 72) * dpi) / Math.max(1, height),
  );
  if (!(factor > 0 && factor < WORTHWHILE)) return undefined;
  return {
    ref,
    width: Math.max(1, Math.ceil(width * factor)),
    height: Math.max(1, Math.ceil(height * factor)),
  };
}
