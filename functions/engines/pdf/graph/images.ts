import type { Size } from '../../../shared/options/geometry.ts';
import { Scanner } from './content.ts';
import { boxOf, userUnit } from './draw.ts';
import { type Dictionary, type Graph, isReference, MAX_DEPTH, type ReadStream, type Value } from './graph.ts';

/** An image and the pixels that it needs. */
export interface Reduced {
  readonly ref: string;
  readonly width: number;
  readonly height: number;
  readonly dataBytes: number;
  /** Absent for a JPEG. */
  readonly samples?: Samples | undefined;
}

/** Decoded samples of 8 bits. */
interface Samples {
  readonly channels: 1 | 3;
  /** The colors of an indexed image, in Base64. */
  readonly palette?: string | undefined;
  /** Whether the image may become a JPEG. */
  readonly isLossy: boolean;
}

/** Images are only reduced if that removes more than a sixth of their pixels in each direction. */
const WORTHWHILE = 5 / 6;
/** Minimum width and height of images that become JPEGs, as in qpdf. Smaller ones may be enlarged, and show artifacts. */
const MIN_JPEG = 128;
/** Maximum number of forms and pages that are read. */
const MAX_VISITS = 50_000;

/** Maximum bytes of images that are reduced at a time, unless it is a single one. In JSON, they are a third larger. */
const MAX_BATCH = 60_000_000;

type Scale = readonly [a: number, b: number, c: number, d: number];

/**
 * Returns the images that are shown at more than `dpi` wherever a page shows them, with their soft masks, and those that
 * may become JPEGs.
 */
export function largeImages(graph: Graph, read: ReadStream, dpi: number): Reduced[] {
  /** The largest size of each image in points. */
  const shown = new Map<string, Size>();
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
          const [width, height] = [Math.hypot(scale[0], scale[1]), Math.hypot(scale[2], scale[3])];
          shown.set(ref, larger(shown.get(ref), { width, height }));
        } else if (object['/Subtype'] === '/Form') {
          visitForm(ref, resources, scale, depth + 1);
        }
      }
      operands = [];
    }
  };
  const visitForm = (ref: Value | undefined, inherited: Dictionary, scale: Scale, depth: number): void => {
    const { '/Resources': own } = graph.dict(ref);
    const resources = own === undefined ? inherited : graph.dict(own);
    visit(read(ref) ?? Buffer.alloc(0), resources, times(matrixOf(graph, ref), scale), depth);
  };
  for (const { dict } of graph.pages) {
    const { '/Contents': contents, '/Resources': resources } = dict;
    const streams = Array.isArray(graph.get(contents)) ? graph.list(contents) : [contents];
    const parts = streams.flatMap((each) => [read(each) ?? Buffer.alloc(0), Buffer.from('\n')]);
    const factor = userUnit(graph, dict);
    visit(Buffer.concat(parts), graph.dict(resources), [factor, 0, 0, factor], 0);
    for (const annotation of graph.list(dict['/Annots'])) {
      const { '/AP': appearance, '/Rect': rect } = graph.dict(annotation);
      const normal = graph.dict(appearance)['/N'];
      const states = graph.isStream(normal) ? [normal] : Object.values(graph.dict(normal));
      for (const state of states) visitForm(state, {}, appearanceScale(graph, state, rect, factor), 1);
    }
  }
  // Some places were not found.
  if (visits > MAX_VISITS) return [];
  // Images may share a mask.
  const masks = new Map<string, Size>();
  const images = [...shown].flatMap(([ref, size]) => {
    const image = graph.dict(ref);
    const mask = image['/SMask'];
    // A matte and its mask must have the same size, and between two colors, a masked one may appear.
    if (graph.dict(mask)['/Matte'] !== undefined || hasColorKey(graph, image)) return [];
    if (isReference(mask) && !shown.has(mask)) masks.set(mask, larger(masks.get(mask), size));
    return [reducedSize(graph, read, { ref, size, dpi, isMask: false })];
  });
  const reducedMasks = [...masks].map(([ref, size]) =>
    reducedSize(graph, read, { ref, size, dpi, isMask: true }),
  );
  return [...images, ...reducedMasks].filter((each) => each !== undefined);
}

/** Divides images into batches that fit into memory. */
export function batchesOf(images: readonly Reduced[]): Reduced[][] {
  const batches: Reduced[][] = [];
  let room = 0;
  for (const image of images) {
    if (image.dataBytes > room) {
      batches.push([]);
      room = MAX_BATCH;
    }
    room -= image.dataBytes;
    batches.at(-1)!.push(image);
  }
  return batches;
}

function larger(known: Size | undefined, { width, height }: Size): Size {
  return { width: Math.max(known?.width ?? 0, width), height: Math.max(known?.height ?? 0, height) };
}

function hasColorKey(graph: Graph, image: Dictionary): boolean {
  return image['/Subtype'] === '/Image' && Array.isArray(graph.get(image['/Mask']));
}

function matrixOf(graph: Graph, form: Value | undefined): readonly number[] {
  const matrix = graph.list(graph.dict(form)['/Matrix']).map((value) => graph.number(value));
  return matrix.length === 6 ? matrix : [1, 0, 0, 1];
}

/** Returns the scale at which an appearance fills the rectangle of its annotation (ISO 32000-1, 12.5.5). */
function appearanceScale(
  graph: Graph,
  form: Value | undefined,
  rect: Value | undefined,
  unit: number,
): Scale {
  const [box, target] = [boxOf(graph, graph.dict(form)['/BBox']), boxOf(graph, rect)];
  if (!box || !target) return [0, 0, 0, 0];
  const [a = 1, b = 0, c = 0, d = 1] = matrixOf(graph, form).map(Math.abs);
  const [width, height] = [box[2] - box[0], box[3] - box[1]];
  const across = (unit * (target[2] - target[0])) / (a * width + c * height);
  const up = (unit * (target[3] - target[1])) / (b * width + d * height);
  return [across, 0, 0, up];
}

function times(matrix: readonly number[], [a, b, c, d]: Scale): Scale {
  const [e = 1, f = 0, g = 0, h = 1] = matrix;
  return [e * a + f * c, e * b + f * d, g * a + h * c, g * b + h * d];
}

function reducedSize(
  graph: Graph,
  read: ReadStream,
  { ref, size, dpi, isMask }: { ref: string; size: Size; dpi: number; isMask: boolean },
): Reduced | undefined {
  const image = graph.dict(ref);
  const filters = [graph.get(image['/Filter'])].flat();
  const isJpeg = filters.length === 1 && filters[0] === '/DCTDecode';
  const isPlain = image['/Decode'] === undefined && image['/DecodeParms'] === undefined;
  const samples = isJpeg ? undefined : samplesOf(graph, read, image);
  if (isJpeg ? !isPlain : !samples || !filters.every((each) => DECODED.includes(String(each))))
    return undefined;
  const [width, height] = [graph.number(image['/Width']), graph.number(image['/Height'])];
  if (!(width > 0 && height > 0)) return undefined;
  const factor = Math.max(((size.width / 72) * dpi) / width, ((size.height / 72) * dpi) / height);
  const isWorthwhile = factor > 0 && factor < WORTHWHILE;
  const isSmall = Math.min(width, height) < MIN_JPEG;
  const isLossy = !isMask && !isSmall && samples !== undefined && samples.palette === undefined;
  if (!isWorthwhile && !isLossy) return undefined;
  return {
    ref,
    width: isWorthwhile ? Math.max(1, Math.ceil(width * factor)) : width,
    height: isWorthwhile ? Math.max(1, Math.ceil(height * factor)) : height,
    samples: samples && { ...samples, isLossy },
    dataBytes: samples
      ? width * height * (samples.palette === undefined ? samples.channels : 1)
      : graph.number(image['/Length']),
  };
}

/** Filters that qpdf decodes. */
const DECODED = [
  '/FlateDecode',
  '/LZWDecode',
  '/RunLengthDecode',
  '/ASCII85Decode',
  '/ASCIIHexDecode',
  'null',
];

/** Returns how an image stores its colors, or `undefined` if its samples cannot be resized. */
function samplesOf(graph: Graph, read: ReadStream, image: Dictionary): Omit<Samples, 'isLossy'> | undefined {
  if (graph.number(image['/BitsPerComponent']) !== 8) return undefined;
  const channels = channelsOf(graph, image['/ColorSpace']);
  if (channels !== undefined) return { channels };
  const [family, base, , lookup] = graph.list(image['/ColorSpace']);
  const colors = family === '/Indexed' ? channelsOf(graph, base) : undefined;
  if (colors === undefined || image['/Decode'] !== undefined) return undefined;
  const palette = graph.isStream(lookup) ? read(lookup) : bytesOf(graph.get(lookup));
  return palette && { channels: colors, palette: palette.toString('base64') };
}

function channelsOf(graph: Graph, space: Value | undefined): 1 | 3 | undefined {
  const found = graph.get(space);
  const [family, profile] = Array.isArray(found) ? (found as readonly Value[]) : [found];
  switch (family) {
    case '/DeviceGray':
    case '/CalGray':
    case '/Separation':
      return 1;
    case '/DeviceRGB':
    case '/CalRGB':
    case '/Lab':
      return 3;
    case '/ICCBased': {
      const channels = graph.number(graph.dict(profile)['/N']);
      return channels === 1 || channels === 3 ? channels : undefined;
    }
    default:
      return undefined;
  }
}

/** Returns the bytes of a string, unless its text does not tell them. */
function bytesOf(value: Value): Buffer | undefined {
  if (typeof value !== 'string') return undefined;
  if (value.startsWith('b:')) return Buffer.from(value.slice(2), 'hex');
  return /^u:[\0-\x7f]*$/.test(value) ? Buffer.from(value.slice(2)) : undefined;
}
