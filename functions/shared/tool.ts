import type { Egress } from './egress/guard.ts';
import type { ConversionError } from './errors.ts';
import type { Parameter } from './options/parameters.ts';
import type { WorkerObserver } from './worker/observer.ts';
import type { SandboxMode } from './worker/sandbox.ts';

/** Extensions that `outfile` may have; `jpeg` is read as `jpg`, `tif` as `tiff`. */
export type Format = 'jpg' | 'png' | 'webp' | 'avif' | 'gif' | 'tiff' | 'pdf';

/** Option name → the reader that knows the wire name, bounds and default. */
export type Parameters = Readonly<Record<string, Parameter<unknown>>>;

/** What a tool gets on AWS: read by the stack, and by the one-machine deployment for its limits. */
export interface Sizing {
  /** MiB; on Lambda 1769 is one core, and new accounts may have 3008 at most. */
  readonly memory: number;
  /** Layers the engine is found in, by folder name below `layers/`. */
  readonly layers: readonly Layer[];
}

export type Layer = 'chromium' | 'libreoffice' | 'image' | 'pdf' | 'pdfjs' | 'fonts' | 'sandbox';

/** What a tool is: data only, so the router and the stack read it without loading an engine. */
export interface Tool<P extends Parameters = Parameters> {
  /** Value of `app`, and the folder's name. */
  readonly name: string;
  /** One line for the README: what goes in and what comes out. */
  readonly summary: string;
  /** `file`: the source is downloaded first; `page`: the engine opens the address itself, through the egress proxy. */
  readonly source: 'file' | 'page';
  /** What the extension of `outfile` may be. */
  readonly formats: readonly Format[];
  /** Formats that `name.<ext>.zip` and `%d` names may have: one file per page. */
  readonly paged: readonly Format[];
  readonly parameters: P;
  /** Names of the original program that mean nothing here: accepted, listed in `X-Ignored-Options`. */
  readonly ignored: readonly string[];
  /** Names of the original program that would reach files or the network for the caller. */
  readonly refused: readonly string[];
  readonly sizing: Sizing;
  /**
   * Yields an error for each broken rule between options, or between an option and the output format. It runs before
   * the download, and what it yields is reported together with all other mistakes. An option whose own value is invalid
   * has its default here; `format` is undefined if `outfile` is invalid.
   */
  validate?(options: OptionsOf<Tool<P>>, format: Format | undefined): Iterable<ConversionError>;
}

type Typed<P extends Parameters> = Pick<Tool<P>, 'parameters' | 'validate'>;

/** Returns the tool it is given, with the options of `validate` typed by `parameters`. */
export function defineTool<const P extends Parameters, const T extends Omit<Tool, keyof Typed<P>>>(
  tool: T & Typed<P>,
): T & Typed<P> {
  return tool;
}

/** The typed options of a tool, derived from its parameters. */
export type OptionsOf<T extends Tool> = {
  readonly [Name in keyof T['parameters']]: T['parameters'][Name] extends Parameter<infer Value>
    ? Value
    : never;
};

/** Bounds of one conversion; all are settings. */
export interface Limits {
  /** Bytes of the source after decompression. */
  readonly sourceBytes: number;
  /** Bytes of all outputs of one conversion. */
  readonly resultBytes: number;
  /** Pixels of one image, width × height. */
  readonly pixels: number;
  /** Pages of one document. */
  readonly pages: number;
  /** Files of one conversion (`%d`, zip). */
  readonly files: number;
  /** Milliseconds one conversion may take, download and storing included. */
  readonly conversionTime: number;
  /** Milliseconds, real and virtual, that a web page may take after load until it looks still. */
  readonly settleTime: number;
}

export const LIMITS: Limits = {
  sourceBytes: 50_000_000,
  resultBytes: 250_000_000,
  pixels: 100_000_000,
  pages: 2000,
  files: 500,
  conversionTime: 240_000,
  settleTime: 5000,
};

/** A downloaded source. */
export interface SourceFile {
  readonly path: string;
  /** Last segment of the final address' path, or of the content disposition; may be empty. */
  readonly name: string;
  /** Media type as the server sent it, lower case, without parameters; may be empty. */
  readonly contentType: string;
  readonly bytes: number;
}

/** What `Tool.source` says an engine gets: a downloaded file, or a URL to open. */
export interface Sources {
  readonly file: SourceFile;
  readonly page: URL;
}

/** One conversion as a tool sees it. */
export interface Conversion<Options, Source = SourceFile | URL> {
  /** The downloaded file (`source: 'file'`) or the checked address (`source: 'page'`). */
  readonly source: Source;
  readonly options: Options;
  readonly format: Format;
  /** `one`: a single file, several pages stacked; `paged`: one file per page. */
  readonly delivery: 'one' | 'paged';
  /** An empty directory of this conversion alone; outputs are written there, all of it is deleted afterwards. */
  readonly directory: string;
  readonly limits: Limits;
  /** Aborts at the deadline, or when the caller disconnects. */
  readonly signal: AbortSignal;
  /** Opaque name of the API key's owner: a warm engine never serves two of them. */
  readonly tenant: string;
  /** Told how many milliseconds the conversion waited for a worker, each time it did. */
  readonly onQueued?: (milliseconds: number) => void;
}

/** One finished file in the conversion's directory. */
export interface Output {
  readonly path: string;
  /** 1-based page of the document, for `%d`. */
  readonly page?: number;
}

export interface Converted {
  /** False where a web page did not look still in time, for `X-Settled`. */
  readonly settled?: boolean;
  /** Length of the source document, for `X-Page-Count`. */
  readonly pageCount?: number;
  /** Files in the order of the reply, each yielded as soon as it is complete, and deletable once the next is asked for. */
  readonly outputs: Iterable<Output> | AsyncIterable<Output>;
}

/** How a tool works: the only function an engine has to provide. Throws `ConversionError` for what the caller can mend. */
export type Convert<T extends Tool> = (
  conversion: Conversion<OptionsOf<T>, Sources[T['source']]>,
) => Promise<Converted>;

/** A tool's engine: made once per process by its `convert.ts`, kept warm between conversions. */
export interface Engine<T extends Tool> {
  readonly convert: Convert<T>;
  /** Starts what can be started ahead of the first conversion. */
  warm?(): Promise<void>;
  /** Ends every process of the engine. */
  close(): Promise<void>;
}

/** What an engine finds around it; the same for every tool. */
export interface EngineDependencies {
  /** Folder that holds the layers: `dist/layers`, or `/opt` on Lambda. */
  readonly layers: string;
  /** Files and folders with our own scripts and the packages that they import: all that engines read beside the layers. */
  readonly code: readonly string[];
  /** Folder for private directories of engines and conversions. */
  readonly temporary: string;
  /** Conversions at the same time at most. */
  readonly size: number;
  readonly egress: Egress;
  /** Learns what the workers of the tool do. */
  readonly observer?: WorkerObserver;
  /** Whether engines may start where the kernel does not provide the whole sandbox; `required` unless given. */
  readonly sandbox?: SandboxMode;
}

/** Every `convert.ts` exports one, called `createEngine`. */
export type CreateEngine<T extends Tool> = (dependencies: EngineDependencies) => Engine<T>;
