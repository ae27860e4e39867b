import { randomUUID } from 'node:crypto';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { ConversionError } from '../../../shared/errors.ts';
import type { PageRange } from '../../../shared/options/option.ts';
import { choosePages, integers, pagesText, selectsAll } from '../../../shared/options/page-selection.ts';
import type { Conversion, Converted, EngineDependencies, SourceFile } from '../../../shared/tool.ts';
import { ATTACHED, freeName } from '../graph/attachments.ts';
import type {
  Edited,
  FileFacts,
  GraphOperations,
  GraphWork,
  SourceFacts,
  Stamp,
  Text,
} from '../graph/operations.ts';
import { MAX_JSON, readStreams } from '../graph/streams.ts';
import { createImages, type ImageOperations } from '../images/client.ts';
import { colorOf, type PdfOptions } from '../options.ts';
import type { PdfPrograms } from '../pdf.ts';
import type { Attached, Information, Part } from '../qpdf/job.ts';
import { claimsStandard, hasSignature } from '../rewrite.ts';
import { selectPages } from '../selection.ts';
import { blankPdf } from '../stamp.ts';
import type { Optimization, ToolboxOptions } from './options.ts';
import { type Capabilities, changingOption, checkPermissions } from './permissions.ts';
import { checkPdf, checkPdfs, downloadSources, type NamedSource, type NamedUrl } from './sources.ts';

type ToolboxConversion = Conversion<
  PdfOptions & ToolboxOptions & { readonly optimize: Optimization | undefined },
  SourceFile
>;

/** A changed PDF. It has the selected pages in their order, and is not encrypted. */
export interface Prepared {
  readonly path: string;
  /** Number of pages of all sources. */
  readonly pageCount: number;
  /** The selected pages, as numbered in the merged document. */
  readonly pages: readonly number[];
  readonly warnings: readonly string[];
}

/** Maximum bytes of the file with values of form fields. */
const MAX_FILL = 5_000_000;

const UNCLAIMED = 'The result does not claim to be PDF/A or PDF/UA, because it was changed.';

/** Changes PDFs before they are drawn or written: qpdf merges and writes, and a Node process changes objects. */
export function createToolbox(dependencies: EngineDependencies, { qpdf, graphs, pdfium }: PdfPrograms) {
  const images = createImages(dependencies);
  const fonts = join(dependencies.layers, 'fonts/faces');

  /** Whether the options ask for a change. */
  function isNeeded(options: ToolboxConversion['options'], format: string): boolean {
    const { rotations, gray, mono, optimize } = options;
    const isTurned = rotations.some(({ pages }) => pages);
    if (isTurned || ((gray || mono || optimize) && format === 'pdf')) return true;
    return changingOption({ ...options, rotations: [] }) !== undefined;
  }

  async function prepare(conversion: ToolboxConversion): Promise<Prepared> {
    const { source, options, directory, limits } = conversion;
    const changing = changingOption(options);
    const urls = urlsOf(options);
    const files = await downloadSources(urls, conversion, dependencies.download);
    const named = (parameter: string) => files.filter((file) => file.parameter === parameter);
    const documents: NamedSource[] = [
      { ...source, parameter: 'infile', url: undefined },
      ...named('-append'),
    ];
    const stamps = [...named('-underlay'), ...named('-stamp')];
    await checkPdfs([...documents, ...stamps]);

    const inspected: Inspected[] = [];
    for (const each of documents) {
      inspected.push(await inspect(each, inspected.length, conversion));
      // The graphs of all documents are in memory at the same time.
      checkGraphs(inspected.reduce((sum, { graphBytes }) => sum + graphBytes, 0));
    }
    if (!options.force) await checkAllowed(inspected, changing, conversion);
    const counts = inspected.map(({ facts }) => facts.pageCount);
    const pageCount = counts.reduce((sum, count) => sum + count, 0);
    if (pageCount > limits.pages) {
      const message = `All sources together have ${pagesText(pageCount)}. The maximum is ${limits.pages}.`;
      throw new ConversionError('SOURCE_TOO_LARGE', message);
    }
    const pages = selectPages(conversion, pageCount);
    const all = counts.flatMap((count, index) =>
      integers(0, count - 1).map((page) => ({ source: index, page })),
    );
    const order = pages.map((page) => all[page - 1]!);

    const parts: Inspected[] = [inspected[0]!];
    for (const [index, each] of inspected.entries())
      if (index > 0) parts.push(await makeMergeable(each, index, conversion));
    const sheets: Sheet[] = [];
    for (const each of stamps) sheets.push(await sheetOf(each, sheets.length, pages.length, conversion));
    const merged = join(directory, 'merged.pdf');
    await qpdf.edit(
      {
        source: inspected[0]!.path,
        target: merged,
        password: inspected[0]!.password,
        merge: [
          ...partsOf(order, parts),
          ...sheets.map(({ path, count }) => ({ file: path, pages: integers(1, count) })),
        ],
        attachments: parts
          .slice(1)
          .map(({ path, password }, index) => ({ file: path, password, prefix: `${ATTACHED}${index + 2}-` })),
        decrypt: true,
      },
      conversion,
    );
    const color = conversion.format === 'pdf' ? colorOf(options) : 'rgb';
    const isWhole = inspected.length === 1 && selectsAll(pages, pageCount);
    const claims =
      changing !== undefined || color !== 'rgb' || options.force
        ? await Promise.all(documents.map(({ path }) => claimsStandard(path)))
        : [];
    const isUnclaimed = claims.includes(true);
    const [fill] = named('-fill');
    if (fill && fill.bytes > MAX_FILL) {
      throw new ConversionError('SOURCE_TOO_LARGE', "The file for '-fill' exceeds the limit of 5 MB.");
    }
    const work: GraphWork = {
      pageCount: pages.length,
      rotations: rotationsOf(options, pages.length),
      fill: fill && relative(directory, fill.path),
      stamps: stampsOf(options, sheets, pages.length),
      texts: textsOf(options, pages.length),
      color,
      isFlat: options.flatten,
      isUnclaimed,
      fonts,
    };
    const graphFiles = isWhole ? [] : inspected.map(({ graph }) => relative(directory, graph));
    const { update, warnings } = await editGraph(merged, { sources: graphFiles, order, work }, conversion);
    const path = join(directory, 'prepared.pdf');
    const attach = attachedOf(named('-attach'));
    const information = informationOf(options);
    await qpdf.edit(
      { source: merged, target: path, update, flatten: options.flatten, attach, information },
      conversion,
    );
    const { optimize } = options;
    const optimized =
      optimize && conversion.format === 'pdf' ? await reduce(path, optimize, conversion) : path;
    const unclaimed = isUnclaimed && options.pdfVersion === undefined ? [UNCLAIMED] : [];
    return { path: optimized, pageCount, pages, warnings: [...warnings, ...unclaimed] };
  }

  /** Compresses images as JPEG, and reduces those that are shown at more than a resolution. */
  async function reduce(
    source: string,
    { dpi, quality }: Optimization,
    conversion: ToolboxConversion,
  ): Promise<string> {
    const file = (name: string) => join(conversion.directory, name);
    const [graph, target] = [file('optimized.json'), file('optimized.pdf')];
    const name = (one: string) => relative(conversion.directory, one);
    await readGraph({ path: source, graph, password: undefined }, conversion);
    const contents = await readStreams({ qpdf, graphs }, { source, graph, of: 'all' }, conversion);
    if (contents === undefined) return source;
    const args = { graph: name(graph), streams: name(contents), dpi };
    const found = await graphs.run<ImageOperations['reduce']['images']>(
      'largeImages',
      args,
      { inputs: [graph, contents] },
      conversion,
    );
    let update: string | undefined;
    for (const [index, batch] of batchesOf(found).entries()) {
      const [streams, changes] = [file(`images-${index}.json`), file(`reduced-${index}.json`)];
      await qpdf.edit({ source, target: streams, streamsJson: batch.map(({ ref }) => ref) }, conversion);
      const request = { graph, streams, previous: update, target: changes, images: batch, quality };
      const isReadable = (await stat(streams)).size <= MAX_IMAGES;
      if (isReadable && (await images.reduce(request, conversion))) update = changes;
      await rm(streams);
    }
    if (update === undefined) return source;
    await qpdf.edit({ source, target, update }, conversion);
    return target;
  }

  /** Describes a document as JSON. */
  async function describe(conversion: ToolboxConversion): Promise<Converted> {
    const { source, directory, limits } = conversion;
    await checkPdf(source);
    const named = { ...source, parameter: 'infile', url: undefined };
    const { path, graph, password, facts } = await inspect(named, 0, conversion);
    const { pageCount } = facts;
    if (pageCount > limits.pages) {
      const message = `The document has ${pagesText(pageCount)}. The maximum is ${limits.pages}.`;
      throw new ConversionError('SOURCE_TOO_LARGE', message);
    }
    const bytes = await readFile(path);
    const encryption = facts.isEncrypted ? await readEncryption(named, password, 0, conversion) : undefined;
    const pages = selectPages(conversion, pageCount);
    const file: FileFacts = {
      bytes: bytes.length,
      ...(!selectsAll(pages, pageCount) && { pages }),
      version: /%PDF-(\d\.\d)/.exec(bytes.toString('latin1', 0, 1024))?.[1] ?? '',
      isLinearized: bytes.toString('latin1', 0, 1024).includes('/Linearized'),
      encryption: encryption
        ? {
            bits: encryption.parameters.bits,
            method: encryption.parameters.method,
            isOwner: encryption.ownerpasswordmatched,
            permissions: encryption.capabilities,
          }
        : null,
      claims: claimsIn(bytes),
    };
    const target = join(directory, 'description.json');
    const args = { graph: relative(directory, graph), target: relative(directory, target), file };
    await graphs.run('describe', args, { inputs: [graph], outputs: [target] }, conversion);
    return { pageCount, outputs: [{ path: target }] };
  }

  /** Writes an archive of the attached files. */
  async function extract(conversion: ToolboxConversion): Promise<Converted> {
    const { source, directory } = conversion;
    await checkPdf(source);
    const named = { ...source, parameter: 'infile', url: undefined };
    const { path, graph, password, facts } = await inspect(named, 0, conversion);
    const name = (file: string) => relative(directory, file);
    const args = { graph: name(graph) };
    const files = await graphs.run<GraphOperations['extract']['files']>(
      'attachments',
      args,
      { inputs: [graph] },
      conversion,
    );
    if (files.length === 0)
      throw new ConversionError('CONVERSION_FAILED', 'The document has no attached files.');
    const [streams, target] = [join(directory, 'streams.json'), join(directory, 'attachments.zip')];
    const streamsJson = files.map(({ stream }) => stream);
    await qpdf.edit({ source: path, target: streams, password, streamsJson }, conversion);
    if ((await stat(streams)).size > MAX_JSON)
      throw new ConversionError('RESULT_TOO_LARGE', 'The attached files are too large.');
    const request = { streams: name(streams), target: name(target), files };
    await graphs.run('extract', request, { inputs: [streams], outputs: [target] }, conversion);
    return { pageCount: facts.pageCount, outputs: [{ path: target }] };
  }

  /** Reads the encryption of a document: a few hundred bytes of numbers and switches, which qpdf writes. */
  async function readEncryption(
    { path }: { readonly path: string },
    password: string | undefined,
    index: number,
    conversion: ToolboxConversion,
  ): Promise<EncryptionFacts> {
    const target = join(conversion.directory, `encryption-${index}.json`);
    await qpdf.edit({ source: path, target, password, encryptionJson: true }, conversion);
    return (JSON.parse(await readFile(target, 'utf8')) as { encrypt: EncryptionFacts }).encrypt;
  }

  /** @throws ConversionError `CONVERSION_FAILED` for a change that permissions or signatures forbid. */
  async function checkAllowed(
    sources: readonly Inspected[],
    changing: string | undefined,
    conversion: ToolboxConversion,
  ): Promise<void> {
    const { options } = conversion;
    for (const [index, { path, password, facts, parameter }] of sources.entries()) {
      if (changing !== undefined && (await hasSignature(path))) {
        const message = `The document is signed, and '${changing}' would make its signatures invalid. Add -force to change it.`;
        throw new ConversionError('CONVERSION_FAILED', message, { parameter: changing });
      }
      if (!facts.isEncrypted) continue;
      const encrypt = await readEncryption({ path }, password, index, conversion);
      if (!encrypt.ownerpasswordmatched) checkPermissions(encrypt.capabilities, parameter, options);
    }
  }

  /** Reads the objects of a source. Tries each password in turn. */
  async function inspect(
    source: NamedSource,
    index: number,
    conversion: ToolboxConversion,
  ): Promise<Inspected> {
    const { userPassword, ownerPassword } = conversion.options;
    const { parameter } = source;
    let { path } = source;
    const graph = join(conversion.directory, `graph-${parameter}-${index}.json`);
    let failure: unknown;
    // The owner password first, because it allows everything.
    for (const password of new Set([ownerPassword, undefined, userPassword])) {
      try {
        const graphBytes = await readGraph({ path, graph, password }, conversion).catch(
          async (thrown: unknown) => {
            if (!(thrown instanceof ConversionError) || thrown.code !== 'CORRUPT_SOURCE') throw thrown;
            const saved = join(conversion.directory, `saved-${index}.pdf`);
            const damaged = { id: randomUUID(), path, password, cropBox: true };
            await pdfium.save(damaged, saved, conversion).catch(() => {
              throw thrown;
            });
            path = saved;
            return readGraph({ path, graph, password: undefined }, conversion);
          },
        );
        const args = { graph: relative(conversion.directory, graph) };
        const facts = await graphs.run<SourceFacts>('inspect', args, { inputs: [graph] }, conversion);
        const opened = { path, password: path === source.path ? password : undefined };
        if (facts.pageCount > 0) return { ...opened, graph, graphBytes, facts, parameter };
        throw new ConversionError('CORRUPT_SOURCE', 'The document has no pages.');
      } catch (thrown) {
        failure = thrown;
        const isLocked =
          thrown instanceof ConversionError && /^(PASSWORD_REQUIRED|WRONG_PASSWORD)$/.test(thrown.code);
        if (!isLocked) break;
      }
    }
    if (source.url === undefined || !(failure instanceof ConversionError)) throw failure;
    const message = `The file for '${parameter}' could not be read. ${failure.message}`;
    throw new ConversionError(failure.code, message, { parameter, cause: failure });
  }

  /**
   * Makes a PDF whose pages contain those of a stamp as forms. Annotations of the stamp become part of them. Pages of the
   * stamp beyond those of the document are left out.
   */
  async function sheetOf(
    source: NamedSource,
    index: number,
    pageCount: number,
    conversion: ToolboxConversion,
  ): Promise<Sheet> {
    const { directory } = conversion;
    const { path, graph, password, facts } = await inspect(source, index, conversion);
    const count = Math.min(facts.pageCount, pageCount);
    const flat = join(directory, `stamp-${index}.pdf`);
    const pages = integers(1, count);
    const update = facts.isMergeable ? undefined : await mergeChanges(graph, undefined, conversion);
    await qpdf.edit(
      { source: path, target: flat, password, pages, update, decrypt: true, flatten: true },
      conversion,
    );
    const blank = join(directory, `blank-${index}.pdf`);
    await writeFile(blank, blankPdf(count));
    const sheet = join(directory, `sheet-${index}.pdf`);
    await qpdf.edit({ source: blank, target: sheet, overlay: flat }, conversion);
    return { path: sheet, count, parameter: source.parameter };
  }

  /** Returns a document that keeps its layers and files when it is merged into another one. */
  async function makeMergeable(
    source: Inspected,
    index: number,
    conversion: ToolboxConversion,
  ): Promise<Inspected> {
    const { path, graph, password, facts } = source;
    if (facts.isMergeable) return source;
    const target = join(conversion.directory, `mergeable-${index}.pdf`);
    const update = await mergeChanges(graph, index, conversion);
    await qpdf.edit({ source: path, target, password, update, decrypt: true }, conversion);
    return { ...source, path: target, password: undefined };
  }

  async function mergeChanges(
    graph: string,
    document: number | undefined,
    conversion: ToolboxConversion,
  ): Promise<string> {
    const target = graph.replace(/\.json$/, '-changes.json');
    const name = (path: string) => relative(conversion.directory, path);
    const args = { graph: name(graph), target: name(target), document };
    await graphs.run('makeMergeable', args, { inputs: [graph], outputs: [target] }, conversion);
    return target;
  }

  async function readGraph(
    { path, graph, password }: Pick<Inspected, 'path' | 'graph' | 'password'>,
    conversion: ToolboxConversion,
  ): Promise<number> {
    await qpdf.edit({ source: path, target: graph, password, json: true }, conversion);
    const { size } = await stat(graph);
    checkGraphs(size);
    return size;
  }

  /** Changes the objects of a document. Returns the path of the changes for qpdf, if there are any. */
  async function editGraph(
    path: string,
    edit: Omit<GraphOperations['edit'], 'graph' | 'target' | 'streams'>,
    conversion: ToolboxConversion,
  ): Promise<{ update: string | undefined; warnings: readonly string[] }> {
    const { directory } = conversion;
    const graph = join(directory, 'merged.json');
    const update = join(directory, 'update.json');
    await readGraph({ path, graph, password: undefined }, conversion);
    const { fill, stamps, texts, color, isFlat } = edit.work;
    const streams =
      stamps.length + texts.length > 0 || color !== 'rgb' || isFlat
        ? await readStreams({ qpdf, graphs }, { source: path, graph, of: 'pages' }, conversion)
        : undefined;
    const name = (file: string) => relative(directory, file);
    const args = { ...edit, graph: name(graph), streams: streams && name(streams), target: name(update) };
    const others = [...edit.sources, ...(fill === undefined ? [] : [fill])];
    const inputs = [graph, ...(streams ? [streams] : []), ...others.map((file) => join(directory, file))];
    const files = { inputs, outputs: [update] };
    const edited = await graphs.run<Edited>('edit', args, files, conversion).catch((thrown: unknown) => {
      const isAboutFill = thrown instanceof ConversionError && thrown.code === 'BAD_PARAMETER';
      throw isAboutFill ? thrown.about('-fill') : thrown;
    });
    return { update: edited.isChanged ? update : undefined, warnings: edited.warnings };
  }

  return {
    isNeeded,
    prepare,
    describe,
    extract,
    close: () => images.close(),
  };
}

export type Toolbox = ReturnType<typeof createToolbox>;

/** The encryption of a document, as `qpdf --json --json-key=encrypt` reports it. */
interface EncryptionFacts {
  readonly capabilities: Capabilities;
  readonly ownerpasswordmatched: boolean;
  readonly parameters: { readonly bits: number; readonly method: string };
}

/** Maximum bytes of images that are reduced at a time, unless it is a single one. In JSON, they are a third larger. */
const MAX_BATCH = 60_000_000;
/** Maximum bytes of the JSON. A page of A4 in color at 600 DPI has 140 MB. */
const MAX_IMAGES = 150_000_000;

/** Divides images into batches that fit into memory. */
function batchesOf(images: ImageOperations['reduce']['images']): Array<typeof images> {
  const batches: Array<Array<(typeof images)[number]>> = [];
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

/** @throws ConversionError `SOURCE_TOO_LARGE` */
function checkGraphs(bytes: number): void {
  if (bytes <= MAX_JSON) return;
  throw new ConversionError('SOURCE_TOO_LARGE', 'The documents have too many objects to change.');
}

/** A source whose objects have been read. */
interface Inspected {
  readonly path: string;
  readonly graph: string;
  readonly graphBytes: number;
  readonly password: string | undefined;
  readonly facts: SourceFacts;
  readonly parameter: string;
}

/** A PDF whose pages contain those of a stamp. */
interface Sheet {
  readonly path: string;
  readonly count: number;
  readonly parameter: string;
}

/** Returns the standards that a PDF claims to follow, from its metadata if they are not compressed. */
function claimsIn(bytes: Buffer): string[] {
  const at = bytes.indexOf('<x:xmpmeta');
  const end = bytes.indexOf('</x:xmpmeta>', at);
  const metadata = at >= 0 && end > at ? bytes.toString('utf8', at, Math.min(end, at + 1_000_000)) : '';
  const entry = (name: string) => new RegExp(`${name}(?:="|>)([0-9A-Za-z]{1,2})`).exec(metadata)?.[1];
  const [archive, level = '', accessible] = ['pdfaid:part', 'pdfaid:conformance', 'pdfuaid:part'].map(entry);
  return [
    ...(archive === undefined ? [] : [`PDF/A-${archive}${level.toLowerCase()}`]),
    ...(accessible === undefined ? [] : [`PDF/UA-${accessible}`]),
  ];
}

function urlsOf({ append, underlay, stamp, fill, attach }: ToolboxOptions): NamedUrl[] {
  const one = (parameter: string, url: string | undefined) => (url === undefined ? [] : [{ parameter, url }]);
  return [
    ...append.map((url) => ({ parameter: '-append', url })),
    ...one('-underlay', underlay),
    ...one('-stamp', stamp),
    ...one('-fill', fill),
    ...attach.map((url) => ({ parameter: '-attach', url })),
  ];
}

/** Returns runs of pages from the same source. */
function partsOf(order: GraphOperations['edit']['order'], sources: readonly Inspected[]): Part[] {
  const parts: Array<Part & { readonly source: number; readonly pages: number[] }> = [];
  for (const { source, page } of order) {
    const last = parts.at(-1);
    const { path, password } = sources[source]!;
    if (last?.source === source) last.pages.push(page + 1);
    else parts.push({ source, file: path, password, pages: [page + 1] });
  }
  return parts;
}

/** Returns the indexes of chosen pages of the result. */
function indexesOf(pages: readonly PageRange[] | undefined, pageCount: number, name: string): number[] {
  const chosen = choosePages({ firstPage: undefined, lastPage: undefined, pages }, pageCount, name);
  return (chosen ?? integers(1, pageCount)).map((page) => page - 1);
}

function rotationsOf({ rotations }: ToolboxOptions, pageCount: number): GraphWork['rotations'] {
  return rotations.flatMap(({ degrees, pages }) =>
    indexesOf(pages, pageCount, '-rotate').map((index) => [index, degrees] as const),
  );
}

function stampsOf(options: ToolboxOptions, sheets: readonly Sheet[], pageCount: number): Stamp[] {
  let first = 0;
  return sheets.map(({ count, parameter }) => {
    const isUnder = parameter === '-underlay';
    const key = isUnder ? 'underlay' : 'stamp';
    const stamp = {
      first,
      count,
      isUnder,
      pages: indexesOf(options[`${key}Pages`], pageCount, `-${key}-pages`),
      place: options[`${key}Position`],
      scale: options[`${key}Scale`],
      opacity: options[`${key}Opacity`],
    };
    first += count;
    return stamp;
  });
}

function textsOf(options: ToolboxOptions, pageCount: number): Text[] {
  const { mark, number } = options;
  return [
    ...(mark === undefined
      ? []
      : [
          {
            text: mark,
            start: undefined,
            pages: indexesOf(options.markPages, pageCount, '-watermark-pages'),
            place: options.markPosition,
            font: options.markFont,
            size: options.markSize,
            color: options.markColor,
            angle: options.markAngle,
            opacity: options.markOpacity,
          },
        ]),
    ...(number === undefined
      ? []
      : [
          {
            text: number,
            start: options.numberStart,
            pages: indexesOf(options.numberPages, pageCount, '-number-pages'),
            place: options.numberPosition,
            font: options.numberFont,
            size: options.numberSize,
            color: options.numberColor,
            angle: 0,
            opacity: 1,
          },
        ]),
  ];
}

/** Returns the files to attach. A name that is taken gets a number. */
function attachedOf(files: readonly NamedSource[]): Attached[] {
  const taken = new Set<string>();
  return files.map(({ path, name, contentType }, index) => {
    const cleaned = name
      .replace(/[^\p{L}\p{N} ._-]/gu, '_')
      .replace(/^\.+/, '')
      .slice(-100);
    const plain = cleaned === '' ? `file-${index + 1}` : cleaned;
    const type = /^[\w.+-]+\/[\w.+-]+$/.test(contentType) ? contentType : undefined;
    return { file: path, name: freeName(plain, taken), type };
  });
}

function informationOf({ metadata }: ToolboxOptions): Information {
  return Object.fromEntries(metadata.map(({ name, value }) => [name, value]));
}
