import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { serveRequests } from '../worker/serve.ts';
import { contentStreams } from './graph/content.ts';
import { describeDocument } from './graph/describe.ts';
import { userUnit } from './graph/draw.ts';
import { editGraph } from './graph/edit.ts';
import { readFieldValues } from './graph/fill.ts';
import { readGraph, type Value, writeUpdate } from './graph/graph.ts';
import { largeImages } from './graph/images.ts';
import { adaptDocument, layerAppearances, markLayers } from './graph/layers.ts';
import { attachedFiles, hasInlineFiles, separateFiles } from './graph/merge.ts';
import type { Adapted, Conformed, GraphOperations, SourceFacts } from './graph/operations.ts';
import { prepareSignature } from './graph/prepare-signature.ts';
import { conformDocument, neededStreams } from './graph/standard/conform.ts';

await serveRequests<GraphOperations>({
  inspect: async ({ graph: path }): Promise<SourceFacts> => {
    const graph = readGraph(path);
    return {
      pageCount: graph.pages.length,
      isEncrypted: graph.trailer['/Encrypt'] !== undefined,
      isMergeable: graph.root['/OCProperties'] === undefined && !hasInlineFiles(graph),
    };
  },
  describe: async ({ graph, target, file }) => {
    writeFileSync(target, `${JSON.stringify(describeDocument(readGraph(graph), file), undefined, 2)}\n`);
  },
  edit: async ({ graph: path, target, sources, streams, fill, ...rest }) => {
    const graph = readGraph(path);
    const values = fill === undefined ? undefined : readFieldValues(readFileSync(fill));
    const data = streams === undefined ? undefined : readGraph(streams);
    const read = (ref: Value | undefined) => data?.data(ref);
    const warnings = editGraph(graph, { ...rest, read, values, sources: sources.map(readGraph) });
    if (graph.isChanged) writeUpdate(graph, target);
    return { isChanged: graph.isChanged, warnings };
  },
  adapt: async ({ graph: path, target, isText }): Promise<Adapted> => {
    const graph = readGraph(path);
    adaptDocument(graph, isText);
    if (graph.isChanged) writeUpdate(graph, target);
    return { isChanged: graph.isChanged, units: graph.pages.map(({ dict }) => userUnit(graph, dict)) };
  },
  makeMergeable: async ({ graph: path, target, document }) => {
    const graph = readGraph(path);
    markLayers(graph, document);
    separateFiles(graph);
    if (document === undefined) layerAppearances(graph);
    writeUpdate(graph, target);
  },
  largeImages: async ({ graph, streams, dpi }) => {
    const data = readGraph(streams);
    return largeImages(readGraph(graph), (ref) => data.data(ref), dpi);
  },
  attachments: async ({ graph }) => attachedFiles(readGraph(graph)),
  extract: async ({ streams, target, files }) => {
    const data = readGraph(streams);
    const archive = new ZipFile();
    for (const { name, stream } of files) archive.addBuffer(data.data(stream) ?? Buffer.alloc(0), name);
    archive.end();
    await pipeline(archive.outputStream, createWriteStream(target));
  },
  streams: async ({ graph, of }) => (of === 'all' ? neededStreams : contentStreams)(readGraph(graph)),
  prepareSignature: async ({ graph, source, target, text }) =>
    prepareSignature(readGraph(graph), source, target, text),
  conform: async ({ graph: path, streams, target, standard }): Promise<Conformed> => {
    const graph = readGraph(path);
    const data = readGraph(streams);
    const conformed = conformDocument(graph, (ref) => data.data(ref), standard);
    writeUpdate(graph, target);
    return conformed;
  },
});
