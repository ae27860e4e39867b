import { writeFileSync } from 'node:fs';
import sharp, { type Sharp } from 'sharp';
import { serveRequests } from '../../worker/serve.ts';
import { type Graph, readGraph } from '../graph/graph.ts';
import type { ReadStream, Reduced } from '../graph/images.ts';
import type { ImageOperations } from './client.ts';

await serveRequests<ImageOperations>({
  reduce: async ({ graph: path, streams, target, images, quality }) => {
    const graph = readGraph(path);
    const data = readGraph(streams);
    await reduceImages(graph, (ref) => data.data(ref), images, quality);
    if (graph.isChanged) writeFileSync(target, JSON.stringify(graph.update()));
    return graph.isChanged;
  },
});

/** Replaces JPEGs with smaller ones, unless those have more bytes. */
async function reduceImages(
  graph: Graph,
  read: ReadStream,
  images: readonly Reduced[],
  quality: number,
): Promise<void> {
  for (const { ref, width, height } of images) {
    const data = read(ref);
    if (!data) continue;
    const smaller = await reduce(() => sharp(data, { ignoreIcc: true }), { width, height, quality }).catch(
      // A damaged image stays as it is.
      () => undefined,
    );
    if (smaller && smaller.length < data.length)
      graph.setStream(ref, { ...graph.dict(ref), '/Width': width, '/Height': height }, smaller);
  }
}

async function reduce(
  open: () => Sharp,
  { width, height, quality }: { width: number; height: number; quality: number },
): Promise<Buffer | undefined> {
  const { channels } = await open().metadata();
  // The samples of CMYK may be inverted.
  if (channels !== 1 && channels !== 3) return undefined;
  const resized = open().resize(width, height, { fit: 'fill' });
  return (channels === 1 ? resized.toColorspace('b-w') : resized).jpeg({ quality }).toBuffer();
}
