import { join } from 'node:path';
import { ConversionError } from '../../../shared/errors.ts';
import type { PageRange } from '../../../shared/options/option.ts';
import {
  choosePages,
  integers,
  pagesText,
  selectsAll,
  spansOf,
} from '../../../shared/options/page-selection.ts';
import { runAhead } from '../../../shared/run-ahead.ts';
import {
  type Conversion,
  type Converted,
  type EngineDependencies,
  INFILE,
  type SourceFile,
} from '../../../shared/tool.ts';
import type { FileFacts } from '../graph/describe.ts';
import type { EditRequest } from '../graph/edit.ts';
import { ATTACHED, freeName } from '../graph/merge.ts';
import type { GraphWork, Stamp, Text } from '../graph/work.ts';
import type { GraphOperations } from '../graph-worker.ts';
import { createOptimizer } from '../optimize.ts';
import { colorOf, type PdfOptions } from '../options.ts';
import { MAX_JSON, Pdf, type PdfPrograms } from '../pdf.ts';
import type { Attached, Information, Part } from '../qpdf.ts';
import { blankPdf, selectPages } from '../rewrite.ts';
import type { Optimization, ToolboxOptions } from './options.ts';
import {
  changingOption,
  checkPdf,
  checkPdfs,
  checkPermissions,
  downloadSources,
  type NamedSource,
  type NamedUrl,
} from './sources.ts';

type ToolboxConversion = Conversion<
  PdfOptions & ToolboxOptions & { readonly optimize: Optimization | undefined },
  SourceFile
>;

/** A changed PDF. It has the selected pages in their order, and is not encrypted. It may not be written yet. */
export interface Prepared {
  readonly pdf: Pdf;
  /** Whether it claims to be PDF/A. */
  readonly isArchive: boolean;
  /** Whether it has a signature, which cannot be valid. */
  readonly isSigned: boolean;
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
export function createToolbox(dependencies: EngineDependencies, programs: PdfPrograms) {
  const optimizer = createOptimizer(dependencies);
  const fonts = join(dependencies.layers, 'fonts/faces');

  /** Whether the options ask for a change. */
  function isNeeded(options: ToolboxConversion['options'], format: string): boolean {
    const { rotations, gray, mono, optimize } = options;
    const isTurned = rotations.some(({ pages }) => pages);
    if (isTurned || ((gray || mono || optimize) && format === 'pdf')) return true;
    return changingOption({ ...options, rotations: [] }) !== undefined;
  }

  async function prepare(conversion: ToolboxConversion): Promise<Prepared> {
    const { source, options, limits } = conversion;
    const changing = changingOption(options);
    const files = await downloadSources(urlsOf(options), conversion, dependencies.download);
    const named = (parameter: string) => files.filter((file) => file.parameter === parameter);
    const documents: NamedSource[] = [namedInfile(source), ...named('-append')];
    const stamps = [...named('-underlay'), ...named('-stamp')];
    await checkPdfs([...documents, ...stamps]);

    const inspected: Inspected[] = [];
    for await (const each of runAhead(documents, 2, (document) => inspect(document, conversion))) {
      inspected.push(each);
      // The graphs of all documents are in memory at the same time.
      checkGraphs(inspected.reduce((sum, { bytes }) => sum + bytes, 0));
    }
    if (!options.force) await checkAllowed(inspected, changing, options);
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

    const [first] = inspected as [Inspected, ...Inspected[]];
    const parts: Pdf[] = [first.pdf];
    for (const [index, each] of inspected.entries()) if (index > 0) parts.push(await mergeable(each, index));
    const sheets: Sheet[] = [];
    for (const each of stamps) sheets.push(await sheetOf(each, pages.length, conversion));
    const isWhole = inspected.length === 1 && selectsAll(pages, pageCount);
    const isBare = inspected.every(({ facts }) => facts.isBare);
    const merged = await first.pdf.plan({
      merge: [
        ...partsOf(order, parts),
        ...sheets.map(({ pdf, count }) => ({ pdf, pages: integers(1, count) })),
      ],
      // Documents without files need not be read again.
      attachments: parts.flatMap((pdf, index) =>
        index > 0 && inspected[index]!.facts.hasFiles ? [{ pdf, prefix: `${ATTACHED}${index + 1}-` }] : [],
      ),
      decrypt: true,
    });
    const color = conversion.format === 'pdf' ? colorOf(options) : 'rgb';
    const claims = inspected.map(({ facts }) => facts.marks);
    const isArchive = claims.some((marks) => marks?.isArchive);
    const isUnclaimed =
      (changing !== undefined || color !== 'rgb' || options.force) &&
      (isArchive || claims.some((marks) => marks?.isAccessible));
    const [fill] = named('-fill');
    if (fill && fill.bytes > MAX_FILL) {
      throw new ConversionError('SOURCE_TOO_LARGE', "The file for '-fill' exceeds the limit of 5 MB.");
    }
    const work: GraphWork = {
      pageCount: pages.length,
      rotations: rotationsOf(options, pages.length),
      stamps: stampsOf(options, sheets, pages.length),
      texts: textsOf(options, pages.length),
      color,
      isFlat: options.flatten,
      isStrict: options.fillStrict,
      isUnclaimed,
      fonts,
    };
    const sources: string[] = [];
    if (!isWhole) for (const { pdf } of inspected) sources.push((await pdf.objects()).path);
    const { update, warnings } =
      isBare && fill === undefined && isIdle(work)
        ? { update: undefined, warnings: [] }
        : await editGraph(merged, { order, work }, { sources, fill: fill?.path });
    const prepared = await merged.plan({
      update,
      flatten: options.flatten,
      attach: attachedOf(named('-attach')),
      information: informationOf(options),
    });
    const { optimize } = options;
    const isOptimized = optimize && conversion.format === 'pdf';
    const pdf = isOptimized ? await optimized(await prepared.written(), optimize, conversion) : prepared;
    const unclaimed = isUnclaimed && options.pdfVersion === undefined ? [UNCLAIMED] : [];
    return {
      pdf,
      isArchive: isArchive && !isUnclaimed,
      isSigned: inspected.some(({ facts }) => facts.hasOtherSignature),
      pageCount,
      pages,
      warnings: [...warnings, ...unclaimed],
    };
  }

  async function optimized(pdf: Pdf, how: Optimization, conversion: ToolboxConversion): Promise<Pdf> {
    checkGraphs((await pdf.objects()).bytes);
    return optimizer.optimize(pdf, how, conversion);
  }

  /** Describes a document as JSON. */
  async function describe(conversion: ToolboxConversion): Promise<Converted> {
    const { source, limits } = conversion;
    await checkPdf(source);
    const { pdf, facts } = await inspect(namedInfile(source), conversion);
    const { pageCount } = facts;
    if (pageCount > limits.pages) {
      const message = `The document has ${pagesText(pageCount)}. The maximum is ${limits.pages}.`;
      throw new ConversionError('SOURCE_TOO_LARGE', message);
    }
    const { bytes, version, isLinearized, claims } = await pdf.marks();
    const encryption = facts.isEncrypted ? await pdf.encryption() : undefined;
    const pages = selectPages(conversion, pageCount);
    const file: FileFacts = {
      bytes,
      ...(!selectsAll(pages, pageCount) && { pages }),
      version,
      isLinearized,
      encryption: encryption
        ? {
            bits: encryption.parameters.bits,
            method: encryption.parameters.method,
            isOwner: encryption.ownerpasswordmatched,
            permissions: encryption.capabilities,
          }
        : null,
      claims,
    };
    const { target } = await pdf.write('describe', { file });
    return { pageCount, outputs: [{ path: target }] };
  }

  /** Writes an archive of the attached files. */
  async function extract(conversion: ToolboxConversion): Promise<Converted> {
    const { source } = conversion;
    await checkPdf(source);
    const { pdf, facts } = await inspect(namedInfile(source), conversion);
    const { target: path, reply: count } = await pdf.write('streams', { of: 'attachments' });
    if (count === 0) throw new ConversionError('CONVERSION_FAILED', 'The document has no attached files.');
    const { path: streams, bytes } = await pdf.streams({ path, index: 0 });
    if (bytes > MAX_JSON) throw new ConversionError('RESULT_TOO_LARGE', 'The attached files are too large.');
    const { target } = await pdf.write('extract', {}, { streams });
    return { pageCount: facts.pageCount, outputs: [{ path: target }] };
  }

  /** @throws ConversionError `CONVERSION_FAILED` for a change that permissions or signatures forbid. */
  async function checkAllowed(
    sources: readonly Inspected[],
    changing: string | undefined,
    options: ToolboxOptions,
  ): Promise<void> {
    for (const { pdf, facts, parameter } of sources) {
      if (changing !== undefined && facts.isSigned) {
        const message = `The document is signed, and '${changing}' would make its signatures invalid. Add -force to change it.`;
        throw new ConversionError('CONVERSION_FAILED', message, { parameter: changing });
      }
      if (!facts.isEncrypted) continue;
      const encryption = await pdf.encryption();
      if (!encryption.ownerpasswordmatched) checkPermissions(encryption.capabilities, parameter, options);
    }
  }

  /** Reads the objects of a source. Tries each password in turn. */
  async function inspect(source: NamedSource, conversion: ToolboxConversion): Promise<Inspected> {
    const { userPassword, ownerPassword } = conversion.options;
    const { parameter, index, path } = source;
    let failure: unknown;
    // The owner password first, because it allows everything.
    for (const password of new Set([ownerPassword, undefined, userPassword])) {
      try {
        const pdf = await readable(new Pdf(programs, { path, password }, conversion));
        const { bytes, pageCount, isPlain } = await pdf.objects();
        checkGraphs(bytes);
        const facts = isPlain ? { ...PLAIN, pageCount } : await pdf.ask('inspect', {}, { source: pdf.path });
        if (facts.pageCount > 0) return { pdf, bytes, facts, parameter };
        throw new ConversionError('CORRUPT_SOURCE', 'The document has no pages.');
      } catch (thrown) {
        failure = thrown;
        if (!isCode(thrown, 'PASSWORD_REQUIRED', 'WRONG_PASSWORD')) break;
      }
    }
    if (parameter === INFILE || !(failure instanceof ConversionError)) throw failure;
    const message = `The file for '${parameter}' could not be read. ${failure.message}`;
    throw new ConversionError(failure.code, message, { parameter, index, cause: failure });
  }

  /**
   * Makes a PDF whose pages contain those of a stamp as forms. Annotations of the stamp become part of them. Pages of the
   * stamp beyond those of the document are left out.
   */
  async function sheetOf(
    source: NamedSource,
    pageCount: number,
    conversion: ToolboxConversion,
  ): Promise<Sheet> {
    const { pdf, facts, parameter } = await inspect(source, conversion);
    const count = Math.min(facts.pageCount, pageCount);
    const update = facts.isMergeable
      ? undefined
      : (await pdf.write('makeMergeable', { document: undefined })).target;
    const flat = await pdf.edit({ pages: integers(1, count), update, decrypt: true, flatten: true });
    const blank = await Pdf.create(programs, blankPdf(count), conversion);
    return { pdf: await blank.edit({ overlay: flat }), count, parameter };
  }

  return { isNeeded, prepare, describe, extract, close: () => optimizer.close() };
}

/** Returns a PDF whose objects qpdf can read: it, or a copy that PDFium has written. */
async function readable(pdf: Pdf): Promise<Pdf> {
  try {
    await pdf.objects();
    return pdf;
  } catch (thrown) {
    if (!isCode(thrown, 'CORRUPT_SOURCE')) throw thrown;
    return pdf.repair().catch((other: unknown) => {
      // PDFium tells a document that needs a certificate from one that is damaged.
      throw isCode(other, 'UNSUPPORTED_SOURCE') ? other : thrown;
    });
  }
}

function isCode(thrown: unknown, ...codes: readonly string[]): boolean {
  return thrown instanceof ConversionError && codes.includes(thrown.code);
}

/** Returns a document that keeps its layers and files when it is merged into another one, as number `index`. */
async function mergeable({ pdf, facts }: Inspected, index: number): Promise<Pdf> {
  if (facts.isMergeable) return pdf;
  const { target: update } = await pdf.write('makeMergeable', { document: index });
  return pdf.edit({ update, decrypt: true });
}

/** Whether work changes nothing. */
function isIdle({ rotations, stamps, texts, color, isFlat, isUnclaimed }: GraphWork): boolean {
  return rotations.length + stamps.length + texts.length === 0 && color === 'rgb' && !isFlat && !isUnclaimed;
}

/** Changes the objects of a document. Returns the path of the changes for qpdf, if there are any. */
async function editGraph(
  pdf: Pdf,
  edit: Pick<EditRequest, 'order' | 'work'>,
  files: { readonly sources: readonly string[]; readonly fill: string | undefined },
): Promise<{ update: string | undefined; warnings: readonly string[] }> {
  checkGraphs((await pdf.objects()).bytes);
  const { stamps, texts, color, isFlat } = edit.work;
  const needsContents = stamps.length + texts.length > 0 || color !== 'rgb' || isFlat;
  const contents = needsContents ? await pdf.streams('pages') : undefined;
  const streams = contents && contents.bytes <= MAX_JSON ? contents.path : undefined;
  const { target, reply } = await pdf.write('edit', edit, { ...files, streams }).catch((thrown: unknown) => {
    throw isCode(thrown, 'BAD_PARAMETER') ? (thrown as ConversionError).about('-fill') : thrown;
  });
  return { update: reply.isChanged ? target : undefined, warnings: reply.warnings };
}

export type Toolbox = ReturnType<typeof createToolbox>;

/** @throws ConversionError `SOURCE_TOO_LARGE` */
function checkGraphs(bytes: number): void {
  if (bytes <= MAX_JSON) return;
  throw new ConversionError('SOURCE_TOO_LARGE', 'The documents have too many objects to change.');
}

type Facts = Awaited<ReturnType<GraphOperations['inspect']>>;

/** The facts about a plain document; see `Edited`. */
const PLAIN: Omit<Facts, 'pageCount'> = {
  isEncrypted: false,
  isSigned: false,
  hasOtherSignature: false,
  isMergeable: true,
  isBare: true,
  hasFiles: false,
  marks: undefined,
};

/** A source whose objects have been read. */
interface Inspected {
  readonly pdf: Pdf;
  /** Bytes of the objects. */
  readonly bytes: number;
  readonly facts: Facts;
  readonly parameter: string;
}

/** A PDF whose pages contain those of a stamp. */
interface Sheet {
  readonly pdf: Pdf;
  readonly count: number;
  readonly parameter: string;
}

function namedInfile(source: SourceFile): NamedSource {
  return { ...source, parameter: INFILE, index: 0 };
}

function urlsOf({ append, underlay, stamp, fill, attach }: ToolboxOptions): NamedUrl[] {
  const all = (parameter: string, urls: readonly (string | undefined)[]) =>
    urls.flatMap((url, index) => (url === undefined ? [] : [{ parameter, index, url }]));
  return [
    ...all('-append', append),
    ...all('-underlay', [underlay]),
    ...all('-stamp', [stamp]),
    ...all('-fill', [fill]),
    ...all('-attach', attach),
  ];
}

/** Returns runs of pages from the same source. */
function partsOf(order: EditRequest['order'], sources: readonly Pdf[]): Part[] {
  const parts: Array<Part & { readonly pages: number[] }> = [];
  for (const { source, page } of order) {
    const last = parts.at(-1);
    const pdf = sources[source]!;
    if (last?.pdf === pdf) last.pages.push(page + 1);
    else parts.push({ pdf, pages: [page + 1] });
  }
  return parts;
}

/** Returns the indexes of chosen pages of the result. */
function indexesOf(pages: readonly PageRange[] | undefined, pageCount: number, name: string): number[] {
  const chosen = choosePages({ firstPage: undefined, lastPage: undefined, pages }, pageCount, name);
  return (chosen ?? integers(1, pageCount)).map((page) => page - 1);
}

function rotationsOf({ rotations }: ToolboxOptions, pageCount: number): GraphWork['rotations'] {
  /** By how many degrees more each page is turned than the one before it. */
  const changes = new Array<number>(pageCount + 1).fill(0);
  for (const { degrees, pages = [{ first: 1, last: pageCount }] } of rotations) {
    for (const { first, last } of spansOf(pages, pageCount, '-rotate')) {
      changes[first - 1]! += degrees;
      changes[last]! -= degrees;
    }
  }
  let turned = 0;
  return changes.slice(0, -1).flatMap((change, index) => {
    turned += change;
    return turned === 0 ? [] : [[index, turned] as const];
  });
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
  const taken = new Map<string, number>();
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
