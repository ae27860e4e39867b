import type { EgressGuard } from './egress/guard.ts';
import { ConversionError } from './errors.ts';
import type { Format } from './formats.ts';
import type { Options, Parameter, ValuesOf } from './options/option.ts';
import type { SandboxMode } from './settings/service.ts';
import type { WarmWorkers, WorkerObserver } from './warm-workers.ts';

/** Memory and layers of a tool's Lambda function. */
interface Sizing {
  /** Memory in MiB. On Lambda, 1769 MiB come with one full core, and new AWS accounts are limited to 3008 MiB. */
  readonly memory: number;
  /** Layers that contain the engine, by folder name below `layers/`. */
  readonly layers: readonly Layer[];
}

export type Layer =
  | 'chromium'
  | 'libreoffice'
  | 'image'
  | 'imagemagick'
  | 'pdf'
  | 'pdfjs'
  | 'fonts'
  | 'sandbox';

/** The layers that one machine needs, in build order: fonts need Chromium, and the slowest build comes last. */
export const LOCAL_LAYERS = [
  'sandbox',
  'pdf',
  'imagemagick',
  'chromium',
  'fonts',
  'libreoffice',
] as const satisfies readonly Layer[];

/** A conversion that shows what a tool does: at startup, on the site, in the smoke test and in the guides. */
interface Example {
  /** Name of a bundled source, in `infra/local/self-check/samples/`. */
  readonly infile: string;
  readonly outfile: string;
  readonly options?: Readonly<Record<string, string>>;
  /** A public source, for the smoke test of a deployment. */
  readonly url: string;
  /** Seconds of a conversion, and of the start before it, with the default memory. */
  readonly seconds: { readonly warm: number; readonly start: number };
}

/** Describes a tool. It is data only, so the router and the stack can read it without loading an engine. */
export interface Tool<P extends Options = Options> {
  /** The value of `app`, and the name of the tool's folder. */
  readonly name: string;
  /** One line for the README with the tool's inputs and outputs. */
  readonly summary: string;
  /** `file`: the source is downloaded first. `page`: the engine opens the URL itself, through the egress proxy. */
  readonly source: 'file' | 'page';
  /** Formats that the tool can write. */
  readonly formats: readonly Format[];
  /** Formats that the tool can write as one file per page, for `name.<ext>.zip` and `%d` names. */
  readonly paged: readonly Format[];
  readonly options: P;
  /** Names of the options that a form shows first. */
  readonly common?: readonly string[];
  /**
   * Options of the original program that have no effect here. They are accepted and listed in `X-Ignored-Options`.
   */
  readonly ignored: readonly string[];
  /**
   * Options of the original program that are rejected, because they would access files or the network, or run code.
   */
  readonly refused: readonly string[];
  /** Sentences that follow the errors for formats that the tool does not write. */
  readonly unwritten?: Readonly<Partial<Record<Format, string>>>;
  /** Sentences that follow the errors for refused options, by name. */
  readonly instead?: Readonly<Record<string, string>>;
  readonly sizing: Sizing;
  readonly example: Example;
  /** Options for a source that becomes pages of another document, by key. */
  readonly asPages?: Readonly<Record<string, unknown>>;
  /**
   * Replaces an option of the original program that stands for others, before any is read.
   * @throws ConversionError `BAD_PARAMETER`
   */
  expand?(parameter: Parameter, format: Format | undefined): readonly Parameter[];
  /**
   * Yields an error for each broken rule between options, or between an option and the output format. Runs before the
   * download, and its errors are reported together with all other mistakes. An option with an invalid value has its
   * default here, and `format` is undefined if `outfile` is invalid.
   */
  validate?(options: OptionsOf<Tool<P>>, format: Format | undefined): Iterable<ConversionError>;
}

type Typed<P extends Options> = Pick<Tool<P>, 'options' | 'validate'>;

/** Returns its argument, with the options of `validate` typed by their definitions. */
export function defineTool<const P extends Options, const T extends Omit<Tool, keyof Typed<P>>>(
  tool: T & Typed<P>,
): T & Typed<P> {
  return tool;
}

/** The types of a tool's options, derived from their definitions. */
export type OptionsOf<T extends Tool> = ValuesOf<T['options']>;

/** Limits of one conversion. */
export interface ConversionLimits {
  /** Maximum bytes of the source, after decompression of the transfer. */
  readonly sourceBytes: number;
  /** Maximum bytes of all outputs together. */
  readonly resultBytes: number;
  /** Maximum pixels (width × height) of one image. */
  readonly pixels: number;
  /** Maximum pages of one document. */
  readonly pages: number;
  /** Maximum number of output files, for `%d` names and archives. */
  readonly files: number;
  /** Maximum milliseconds of the whole conversion, including the download and storing the results. */
  readonly conversionTime: number;
  /** Maximum milliseconds, real or virtual, from the load of a web page until it stops changing. */
  readonly settleTime: number;
}

export const CONVERSION_LIMITS: ConversionLimits = {
  sourceBytes: 50_000_000,
  resultBytes: 250_000_000,
  pixels: 100_000_000,
  pages: 2000,
  files: 500,
  conversionTime: 240_000,
  settleTime: 5000,
};

/** A file of an uploaded page. */
export interface PageFile {
  /** Path relative to the page, such as `images/a.png`. */
  readonly path: string;
  /** Presigned URL in the storage. */
  readonly url: string;
}

/** Returns a page that was sent without other files, by its URL in the storage. */
export function pageFile(url: string): PageFile {
  return { path: decodeURIComponent(new URL(url).pathname.split('/').at(-1)!) || 'page.html', url };
}

/** A downloaded source. */
export interface SourceFile {
  readonly path: string;
  /** File name from the content disposition, or else the last path segment of the final URL. May be empty. */
  readonly name: string;
  /** Media type that the server sent, in lower case and without parameters. May be empty. */
  readonly contentType: string;
  readonly bytes: number;
}

/** Downloads a source into a directory; see `source/download.ts`. */
export type Download = (
  url: string,
  options: {
    readonly directory: string;
    readonly limits: Pick<ConversionLimits, 'sourceBytes'>;
    readonly signal: AbortSignal;
    readonly account: string;
  },
) => Promise<SourceFile>;

/** Type of the source that an engine gets, for each value of `Tool.source`. */
export interface Sources {
  readonly file: SourceFile;
  readonly page: URL;
}

/** One conversion, as an engine gets it. */
export interface Conversion<Options, Source = SourceFile | URL> {
  /** The downloaded file (`source: 'file'`) or the URL to open (`source: 'page'`). */
  readonly source: Source;
  /** The files of a page that was uploaded instead of a URL, starting with the page itself. */
  readonly files?: readonly PageFile[];
  /** The URLs of sources that were sent, which a browser cannot open. */
  readonly sent?: readonly string[];
  readonly options: Options;
  readonly format: Format;
  /** `one`: a single file, in which several pages are stacked vertically. `paged`: one file per page. */
  readonly delivery: 'one' | 'paged';
  /** An empty directory for this conversion. Outputs are written to it, and it is deleted afterwards. */
  readonly directory: string;
  readonly limits: ConversionLimits;
  /** Aborts at the deadline, or when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Opaque ID of the account. A warm engine never serves two accounts. */
  readonly account: string;
  /** Called each time the conversion has waited for a worker, with the duration in milliseconds. */
  readonly onQueued?: (milliseconds: number) => void;
}

/** A finished file in the conversion's directory. */
export interface Output {
  readonly path: string;
  /** Page number in the document, starting at 1, for `%d`. */
  readonly page?: number;
  /** Number of pages in the file, if that is not the number of pages of the document. */
  readonly pages?: number;
}

export interface Converted {
  /** Whether a web page stopped changing in time, for `X-Settled`. */
  readonly settled?: boolean;
  /** Number of pages in the source document, for `X-Page-Count`. */
  readonly pageCount?: number;
  /** Kind of the source, for options that affect only some kinds; see `Scope.inputs`. */
  readonly sourceKind?: string | undefined;
  /**
   * Sentences in ASCII about missing parts of the outputs, for `X-Warnings`. Complete once all outputs are yielded.
   */
  readonly warnings?: readonly string[];
  /**
   * The files in the order of the response. Each is yielded when it is complete and may be deleted when the next is
   * requested.
   */
  readonly outputs: Iterable<Output> | AsyncIterable<Output>;
}

/** Runs one conversion. Throws `ConversionError` for every problem that the caller can do something about. */
type Convert<T extends Tool> = (
  conversion: Conversion<OptionsOf<T>, Sources[T['source']]>,
) => Promise<Converted>;

/** A tool's engine. It is created once per process and kept warm between conversions. */
export interface Engine<T extends Tool> {
  readonly convert: Convert<T>;
  /** Starts the engine before the first conversion. */
  warm?(): Promise<void>;
  /** Kills every process of the engine. */
  close(): Promise<void>;
}

/** The dependencies of an engine, provided by its deployment. They are the same for every tool. */
export interface EngineDependencies {
  /** Folder of the layers: `dist/layers`, or `/opt` on Lambda. */
  readonly layers: string;
  /** Files and folders with the service's scripts and their packages. Engines can read only these and the layers. */
  readonly code: readonly string[];
  /** Folder for the private directories of engines and conversions. */
  readonly temporary: string;
  /** Command that starts the engines' commands; see `launcherIn`. */
  readonly launcher?: readonly string[] | undefined;
  /** Maximum number of concurrent conversions. */
  readonly size: number;
  /** Whether all conversions belong to one account, so that no spare is kept for others. */
  readonly singleAccount?: boolean | undefined;
  /** Keeps the idle workers of all tools. By default, each engine keeps up to `size` of its own. */
  readonly warm?: WarmWorkers | undefined;
  readonly egress: EgressGuard;
  /** Folder of the operator's keys that sign PDFs; see `readIdentity`. */
  readonly signers?: string | undefined;
  /** Language tag for dates and numbers of documents that declare none. Defaults to `en-US`. */
  readonly locale?: string | undefined;
  /** Downloads sources that options name. One at a time, so that a conversion has only one connection. */
  readonly download: Download;
  /** Observes the workers of the tool. */
  readonly observer?: WorkerObserver;
  /** Whether engines may start where the kernel cannot filter system calls. Defaults to `required`. */
  readonly sandbox?: SandboxMode;
}

/** The type of `createEngine`, which every `convert.ts` exports. */
export type CreateEngine<T extends Tool> = (dependencies: EngineDependencies) => Engine<T>;

/** The parameter of the source itself. */
export const INFILE = 'infile';

/** Where a request names a source. A tool that has processed hostile content names no URL. */
export interface SourcePlace {
  /** `infile`, or the name of an option. */
  readonly parameter: string;
  /** Position among the sources of the parameter, from 0. */
  readonly index: number;
}

/** A source that another tool must convert to a PDF first. */
export interface UnconvertedSource extends SourcePlace {
  readonly tool: string;
  /** Whether the source becomes pages of a document, so that an image needs paper around it. */
  readonly asPages?: boolean;
}

/**
 * The error of a tool that needs sources as PDFs. The router converts them and invokes the tool again. A caller who
 * invokes the tool directly gets the error.
 */
export class UnconvertedError extends ConversionError {
  readonly sources: readonly UnconvertedSource[];

  constructor(message: string, sources: readonly UnconvertedSource[]) {
    super('UNSUPPORTED_SOURCE', message, { parameter: sources[0]!.parameter });
    this.sources = sources;
  }
}
