import { createWriteStream, readFileSync, writeFileSync } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';
import { serveRequests } from '../worker/serve.ts';
import type { Standard } from './finish-options.ts';
import { contentStreams } from './graph/content.ts';
import { describeDocument, type FileFacts, signaturesOf } from './graph/describe.ts';
import { userUnit } from './graph/draw.ts';
import { type EditRequest, editGraph } from './graph/edit.ts';
import { readFieldValues } from './graph/fill.ts';
import { type Graph, readGraph, type Value, writeUpdate } from './graph/graph.ts';
import { batchesOf, largeImages } from './graph/images.ts';
import { adaptForPdfium, layerAppearances, markLayers } from './graph/layers.ts';
import { readEncryption, readMarks } from './graph/marks.ts';
import { attachedFiles, hasInlineFiles, isBare, pruneNavigation, separateFiles } from './graph/merge.ts';
import { prepareSignature, type SignatureText } from './graph/prepare-signature.ts';
import { conformDocument, neededStreams } from './graph/standard/conform.ts';

/** Maximum number of obstacles that are named. */
const MAX_NAMED = 100;

/** An operation that writes a file. */
interface Writing {
  readonly graph: string;
  readonly target: string;
}

/**
 * The operations and their arguments. `graph` is the JSON of a document's objects, and `streams` has data of its streams.
 * Replies are limited, so a list that grows with the document is a file.
 */
const operations = {
  /** Returns what the bytes of a PDF tell. */
  marks: async ({ source }: { readonly source: string }) => readMarks(source),
  /** Returns what qpdf reports about the encryption. */
  encryption: async ({ source }: { readonly source: string }) => readEncryption(source),
  inspect: async ({ graph: path, source }: { readonly graph: string; readonly source: string }) => {
    const graph = readGraph(path);
    const isDescribed = graph.root['/Metadata'] !== undefined;
    const isSigned =
      signaturesOf(graph, 0).length > 0 || graph.dict(graph.root['/Perms'])['/DocMDP'] !== undefined;
    // qpdf removes those of fields and of usage rights.
    const removed = Object.values(graph.dict(graph.root['/Perms']));
    return {
      pageCount: graph.pages.length,
      isEncrypted: graph.trailer['/Encrypt'] !== undefined,
      isSigned,
      /** Whether it has a signature that is no value of a field. */
      hasOtherSignature:
        !isSigned &&
        [...graph.entries()].some(
          ([ref, value]) => graph.dict(value)['/ByteRange'] !== undefined && !removed.includes(ref),
        ),
      /** Whether qpdf merges it into another document without losing parts. */
      isMergeable: graph.root['/OCProperties'] === undefined && !hasInlineFiles(graph),
      isBare: isBare(graph),
      hasFiles: graph.dict(graph.root['/Names'])['/EmbeddedFiles'] !== undefined,
      /** Claims are part of the metadata; see `Marks`. */
      marks: isDescribed ? readMarks(source) : undefined,
    };
  },
  /** Writes a description of the document as JSON. */
  describe: async ({ graph, target, file }: Writing & { readonly file: FileFacts }) => {
    writeFileSync(target, `${JSON.stringify(describeDocument(readGraph(graph), file), undefined, 2)}\n`);
  },
  /** Writes the changes of a merged document for `qpdf --update-from-json`. */
  edit: async ({ graph: path, target, sources, streams, fill, order, work }: EditArguments) => {
    const graph = readGraph(path);
    const values = fill === undefined ? undefined : readFieldValues(readFileSync(fill));
    const data = streams === undefined ? undefined : readGraph(streams);
    const read = (ref: Value | undefined) => data?.data(ref);
    const warnings = editGraph(graph, { order, work, read, values, sources: sources.map(readGraph) });
    if (graph.isChanged) writeUpdate(graph, target);
    return { isChanged: graph.isChanged, warnings };
  },
  /** Writes changes for qpdf to select pages, by index. */
  select: async ({ graph: path, target, pages }: Writing & { readonly pages: readonly number[] }) => {
    const graph = readGraph(path);
    pruneNavigation(graph, pages);
    if (graph.isChanged) writeUpdate(graph, target);
    return { isChanged: graph.isChanged };
  },
  /** Writes changes for PDFium; see `adaptForPdfium`. Returns whether there are any, and the units of pages in points. */
  adapt: async ({ graph: path, target, isText }: Writing & { readonly isText: boolean }) => {
    const graph = readGraph(path);
    adaptForPdfium(graph, isText);
    if (graph.isChanged) writeUpdate(graph, target);
    return { isChanged: graph.isChanged, units: graph.pages.map(({ dict }) => userUnit(graph, dict)) };
  },
  /**
   * Writes changes that keep the layers and files of a document when it is merged into another one as number `document`.
   * A stamp has no number, because it is flattened.
   */
  makeMergeable: async (args: Writing & { readonly document: number | undefined }) => {
    const graph = readGraph(args.graph);
    markLayers(graph, args.document);
    separateFiles(graph);
    if (args.document === undefined) layerAppearances(graph);
    writeUpdate(graph, args.target);
  },
  /** Writes lists of the images to reduce to `dpi`, and returns their number. */
  largeImages: async ({ graph, streams, target, dpi }: Streams & Writing & { readonly dpi: number }) => {
    const data = readGraph(streams);
    const batches = batchesOf(largeImages(readGraph(graph), (ref) => data.data(ref), dpi));
    writeFileSync(target, JSON.stringify(batches));
    return batches.length;
  },
  /** Writes an archive of attached files. */
  extract: async ({ graph, streams, target }: Streams & Writing) => {
    const data = readGraph(streams);
    const archive = new ZipFile();
    // One after the other: yazl would compress all buffers at the same time.
    for (const { name, stream } of attachedFiles(readGraph(graph)))
      archive.addReadStreamLazy(name, (open) =>
        open(null, Readable.from([data.data(stream) ?? Buffer.alloc(0)])),
      );
    archive.end();
    await pipeline(archive.outputStream, createWriteStream(target));
  },
  /** Writes a list of the content streams of pages, all that `conform` reads, or attached files, and returns their number. */
  streams: async ({ graph, target, of }: Writing & { readonly of: keyof typeof STREAMS }) => {
    const found = STREAMS[of](readGraph(graph));
    writeFileSync(target, JSON.stringify([found]));
    return found.length;
  },
  /** Writes what must be appended to the PDF `source`; see `prepareSignature`. */
  prepareSignature: async (args: Writing & { readonly source: string; readonly text: SignatureText }) =>
    prepareSignature(readGraph(args.graph), args.source, args.target, args.text),
  /** Writes the changes that make a document follow a standard. */
  conform: async ({ graph: path, streams, target, standard }: ConformArguments) => {
    const graph = readGraph(path);
    const data = readGraph(streams);
    const { obstacles, warnings } = conformDocument(graph, (ref) => data.data(ref), standard);
    writeUpdate(graph, target);
    return {
      obstacles: obstacles.slice(0, MAX_NAMED),
      unnamed: Math.max(0, obstacles.length - MAX_NAMED),
      warnings,
    };
  },
};
export type GraphOperations = typeof operations;

const STREAMS = {
  pages: contentStreams,
  all: neededStreams,
  attachments: (graph: Graph) => attachedFiles(graph).map(({ stream }) => stream),
};

interface Streams {
  readonly graph: string;
  readonly streams: string;
}
type ConformArguments = Writing & Streams & { readonly standard: Standard };
type EditArguments = Writing &
  Pick<EditRequest, 'order' | 'work'> & {
    readonly sources: readonly string[];
    readonly streams: string | undefined;
    /** The values of form fields. */
    readonly fill: string | undefined;
  };

await serveRequests(operations);
