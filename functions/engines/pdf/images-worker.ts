import { readFileSync, writeFileSync } from 'node:fs';
import { deflateSync } from 'node:zlib';
import sharp, { type Sharp } from 'sharp';
import type { Size } from '../../shared/options/geometry.ts';
import { serveRequests } from '../worker/serve.ts';
import { type Dictionary, type Graph, type GraphJson, type ReadStream, readGraph } from './graph/graph.ts';
import type { Reduced } from './graph/images.ts';
import type { ImageOperations } from './optimize.ts';

await serveRequests<ImageOperations>({
  reduce: async ({ graph: path, streams, previous, target, images, index, quality }) => {
    const graph = readGraph(path);
    const data = readGraph(streams);
    const lists = JSON.parse(readFileSync(images, 'utf8')) as Reduced[][];
    await reduceImages(graph, (ref) => data.data(ref), lists[index]!, quality);
    if (!graph.isChanged) return false;
    const [header, changes] = graph.update().qpdf;
    const [, others] = previous ? (JSON.parse(readFileSync(previous, 'utf8')) as GraphJson).qpdf : [];
    writeFileSync(target, JSON.stringify({ qpdf: [header, { ...others, ...changes }] }));
    return true;
  },
});

/** An image as it is written. */
interface Written {
  readonly bytes: Buffer;
  readonly filter: '/DCTDecode' | '/FlateDecode';
}

/** Replaces images with smaller ones, unless those have more bytes. */
async function reduceImages(
  graph: Graph,
  read: ReadStream,
  images: readonly Reduced[],
  quality: number,
): Promise<void> {
  for (const image of images) {
    const { ref, width, height, samples } = image;
    const data = read(ref);
    if (!data) continue;
    const given = graph.dict(ref);
    const written = await (samples
      ? reduceSamples(data, given, image, quality)
      : reduceJpeg(data, image, quality)
    )
      // A damaged image stays as it is.
      .catch(() => undefined);
    if (!written || written.bytes.length >= graph.number(given['/Length'], data.length)) continue;
    const { '/DecodeParms': _, '/Length': __, ...kept } = given;
    const [, base] = samples?.palette === undefined ? [] : graph.list(given['/ColorSpace']);
    const dict: Dictionary = { ...kept, '/Width': width, '/Height': height, '/Filter': written.filter };
    graph.setStream(ref, base === undefined ? dict : { ...dict, '/ColorSpace': base }, written.bytes);
  }
}

async function reduceJpeg(
  data: Buffer,
  { width, height }: Reduced,
  quality: number,
): Promise<Written | undefined> {
  const open = () => sharp(data, { ignoreIcc: true });
  const { channels } = await open().metadata();
  // The samples of CMYK may be inverted.
  if (channels !== 1 && channels !== 3) return undefined;
  const resized = resize(open(), channels, { width, height });
  return { bytes: await resized.jpeg({ quality }).toBuffer(), filter: '/DCTDecode' };
}

/** Reduces samples, and compresses them as JPEG or without loss, whichever is smaller. */
async function reduceSamples(
  data: Buffer,
  given: Dictionary,
  { width, height, samples }: Reduced,
  quality: number,
): Promise<Written | undefined> {
  const { channels, palette, isLossy } = samples!;
  const [from, to] = [
    { width: Number(given['/Width']), height: Number(given['/Height']) },
    { width, height },
  ];
  const colors = palette === undefined ? data : expand(data, Buffer.from(palette, 'base64'), channels);
  const opened = sharp(colors.subarray(0, from.width * from.height * channels), {
    raw: { ...from, channels },
  });
  const resized = await resize(opened, channels, to).raw().toBuffer();
  const jpeg = isLossy
    ? await inSpace(sharp(resized, { raw: { ...to, channels } }), channels)
        .jpeg({ quality })
        .toBuffer()
    : undefined;
  const deflated = deflateSync(resized, { level: 9 });
  return jpeg && jpeg.length < deflated.length
    ? { bytes: jpeg, filter: '/DCTDecode' }
    : { bytes: deflated, filter: '/FlateDecode' };
}

function resize(image: Sharp, channels: 1 | 3, size: Size): Sharp {
  return inSpace(image.resize({ ...size, fit: 'fill' }), channels);
}

/** Keeps one channel from becoming three. */
function inSpace(image: Sharp, channels: 1 | 3): Sharp {
  return channels === 1 ? image.toColorspace('b-w') : image;
}

/** Replaces indexes by their colors. */
function expand(indexes: Buffer, palette: Buffer, channels: number): Buffer {
  const colors = Buffer.alloc(indexes.length * channels);
  for (let at = 0; at < indexes.length; at += 1)
    palette.copy(colors, at * channels, indexes[at]! * channels, (indexes[at]! + 1) * channels);
  return colors;
}
