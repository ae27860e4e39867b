import { randomBytes } from 'node:crypto';
import { relative } from 'node:path';
import { WorkerPool, type WorkerRequest } from '../worker/pool.ts';
import { nativeEngine, type ProgramDependencies } from '../worker/sandbox.ts';
import type { Encryption } from './finish-options.ts';
import { PASSWORD_MESSAGES } from './options.ts';

/** Rewrites PDF files in sandboxed qpdf processes, which start on the first edit. */
export interface Qpdf {
  /**
   * Reads `source` and writes `target`. All files must be in the conversion's directory.
   * @throws ConversionError `PASSWORD_REQUIRED`, `WRONG_PASSWORD`, `CORRUPT_SOURCE`, `TIMED_OUT`
   */
  edit(source: PdfFile, target: string, edit: Edit, request: WorkerRequest): Promise<Edited>;
  close(): Promise<void>;
}

/** Describes the document that qpdf has written. */
export interface Edited {
  readonly pageCount: number;
  /** Whether it consists of pages and nothing that refers to them, is not encrypted, and claims to follow no standard. */
  readonly isPlain: boolean;
}

const MESSAGES = {
  ...PASSWORD_MESSAGES,
  CORRUPT_SOURCE: () => 'The PDF is damaged and could not be rewritten.',
};

/** Creates up to `size` qpdf processes. The `pdf` layer must be present. */
export function createQpdf(dependencies: ProgramDependencies): Qpdf {
  const command = nativeEngine(dependencies, { layer: 'pdf', program: 'qpdf' });
  const limits = { requests: 500, cost: 10, memory: 400, maxMemory: 1500 };
  const client = new WorkerPool(command, { ...dependencies, ...limits, messages: MESSAGES });

  function edit({ path, password }: PdfFile, target: string, edit: Edit, request: WorkerRequest) {
    const nameOf = (file: string) => relative(request.directory, file);
    const inputs = new Set<string>();
    const input = (file: string) => {
      const name = nameOf(file);
      inputs.add(name);
      return name;
    };
    const [source, output] = [input(path), nameOf(target)];
    const { information = {} } = edit;
    const update = edit.update === undefined ? undefined : input(edit.update);
    const job = jobOf({ source, password, target: output }, edit, input);
    const streams = typeof edit.json === 'object' ? input(edit.json.path) : undefined;
    const list = typeof edit.json === 'object' ? edit.json.index : undefined;
    const args = { source, password, update, job, information, streams, list };
    return client.run<Edited>(
      { operation: 'edit', arguments: args, inputs: [...inputs], outputs: [output] },
      request,
    );
  }

  return { edit, close: () => client.close() };
}

/** Entries of the document information dictionary. Absent entries stay unchanged. */
export interface Information {
  readonly Title?: string;
  readonly Author?: string;
  readonly Subject?: string;
  readonly Keywords?: string;
  readonly Creator?: string;
  readonly Producer?: string;
}

/** A PDF, and its user or owner password if it has one. */
export interface PdfFile {
  readonly path: string;
  readonly password?: string | undefined;
}

/** Changes of a PDF. Whatever is absent stays unchanged. */
export interface Changes {
  /** Pages to keep, from 1, in this order. */
  readonly pages?: readonly number[] | undefined;
  /** Degrees clockwise, added to the rotation of every page. */
  readonly rotate?: number | undefined;
  readonly encrypt?: Encryption | undefined;
  /** Removes encryption and its restrictions, unless `encrypt` replaces them. */
  readonly decrypt?: boolean | undefined;
  /** Orders the file so that viewers can show page 1 before the rest has arrived. */
  readonly linearize?: boolean | undefined;
  /** Removes the metadata (XMP). */
  readonly removeMetadata?: boolean | undefined;
  /** Compresses objects. Streams stay as they are. */
  readonly compress?: boolean | undefined;
  /** Compresses streams again, as much as is possible without loss. */
  readonly recompress?: boolean | undefined;
  /** Raises the version in the file's header to at least this one. */
  readonly minVersion?: string | undefined;
  /** PDF whose pages come before those of the source. */
  readonly before?: PdfFile | undefined;
  /** PDF whose pages are drawn over those of the source, the first over the first. */
  readonly overlay?: PdfFile | undefined;
  /** PDF whose first page is drawn over every page of the source. */
  readonly stamp?: PdfFile | undefined;
  /** Quality (1 to 100) of the JPEGs that replace other images where that makes them smaller. */
  readonly imageQuality?: number | undefined;
  /** Entries to set. With `null`, the document information is removed. */
  readonly information?: Information | null | undefined;
  /** PDFs whose pages replace those of the source, in this order. The source itself is one of them. */
  readonly merge?: readonly Part[] | undefined;
  /** PDFs whose attached files are added. `prefix` comes before their names. */
  readonly attachments?: ReadonlyArray<{ readonly pdf: PdfFile; readonly prefix: string }> | undefined;
  /** JSON with changed objects, as `qpdf --update-from-json` reads it. They are those that result from all other changes. */
  readonly update?: string | undefined;
  /** Makes form fields and annotations part of the pages. */
  readonly flatten?: boolean | undefined;
  /** Files to attach. */
  readonly attach?: readonly Attached[] | undefined;
  /** Writes exactly this version in the file's header. Before 1.5, objects are not compressed. */
  readonly version?: string | undefined;
}

/** One run of qpdf, which writes JSON instead of a PDF if that is asked for. */
export interface Edit extends Changes {
  /** `encryption`: about the encryption; `objects`: without the data of streams; a list: these streams and their decoded data. */
  readonly json?: 'encryption' | 'objects' | StreamList;
}

/** A file with lists of streams, as JSON: `[["1 0 R", …], …]`. An entry may also be an object with a `ref`. */
export interface StreamList {
  readonly path: string;
  /** Which of the lists. */
  readonly index: number;
}

/** A file to attach to a PDF. */
export interface Attached {
  readonly file: string;
  readonly name: string;
  /** Media type. */
  readonly type: string | undefined;
}

/** Pages of one of several PDFs, from 1. */
export interface Part {
  readonly pdf: PdfFile;
  readonly pages: readonly number[];
}

/** The source and the target of a job, and the password of the source. */
interface JobFiles {
  readonly source: string;
  readonly target: string;
  readonly password?: string | undefined;
}

/**
 * Describes an edit as qpdf's job JSON (`qpdf --job-json-help`). An empty string turns an option on. `input` returns the
 * name by which qpdf finds another file.
 */
export function jobOf(
  { source, target, password }: JobFiles,
  { pages, rotate = 0, encrypt, decrypt, linearize, compress, json, ...edit }: Edit,
  input: (path: string) => string = (path) => path,
): object {
  const { before, overlay, stamp, imageQuality, merge, attachments = [], attach = [] } = edit;
  const degrees = ((rotate % 360) + 360) % 360;
  const fileOf = ({ path, password: own }: PdfFile) => ({ file: input(path), ...(own && { password: own }) });
  const partOf = ({ pdf, pages: some }: Part) => {
    const isSource = input(pdf.path) === source;
    return { ...(isSource ? { file: '.' } : fileOf(pdf)), range: ranges(some) };
  };
  return {
    inputFile: source,
    outputFile: target,
    ...(password && { password }),
    ...((pages || before) && {
      pages: [
        ...(before ? [{ ...fileOf(before), range: '1-z' }] : []),
        { file: '.', range: pages ? ranges(pages) : '1-z' },
      ],
    }),
    ...(merge && { pages: merge.map(partOf) }),
    ...(attachments.length > 0 && {
      copyAttachmentsFrom: attachments.map(({ pdf, prefix }) => ({ ...fileOf(pdf), prefix })),
    }),
    ...(edit.flatten && { flattenAnnotations: 'all', generateAppearances: '' }),
    ...(attach.length > 0 && {
      addAttachment: attach.map(({ file, name, type }) => ({
        file: input(file),
        key: name,
        filename: name,
        replace: '',
        ...(type && { mimetype: type }),
      })),
    }),
    ...(json === 'encryption' && { json: '2', jsonKey: ['encrypt'] }),
    ...(json === 'objects' && { jsonOutput: '2', jsonStreamData: 'none' }),
    ...(typeof json === 'object' && {
      jsonOutput: '2',
      jsonStreamData: 'inline',
      decodeLevel: 'generalized',
    }),
    ...(overlay && { overlay: [fileOf(overlay)] }),
    ...(stamp && { overlay: [{ ...fileOf(stamp), from: '1', repeat: '1' }] }),
    ...(imageQuality !== undefined && { optimizeImages: '', jpegQuality: String(imageQuality) }),
    ...(degrees !== 0 && { rotate: `+${degrees}` }),
    // A new encryption replaces the old one.
    ...(encrypt ? { encrypt: encryption(encrypt) } : (decrypt || edit.update) && { decrypt: '' }),
    // Readers warn of usage rights that are no longer valid.
    ...(decrypt && { removeRestrictions: '' }),
    ...(linearize && { linearize: '' }),
    // PDF/A requires the line break.
    ...(json === undefined && { newlineBeforeEndstream: '' }),
    ...(edit.version !== undefined && { forceVersion: edit.version }),
    ...(compress && { objectStreams: edit.version === '1.4' ? 'disable' : 'generate' }),
    ...(edit.removeMetadata && { removeMetadata: '' }),
    ...(edit.recompress && { recompressFlate: '' }),
    // Thousands of damaged objects have as many warnings, which nobody reads.
    noWarn: '',
    // qpdf keeps the level of the previous job of its process.
    compressionLevel: edit.recompress ? '9' : '6',
    ...(edit.minVersion !== undefined && { minVersion: edit.minVersion }),
  };
}

function encryption({ userPassword, ownerPassword = '', permissions = {} }: Encryption): object {
  const { print = 'full', modify = 'all', extract = true } = permissions;
  return {
    userPassword,
    // If it were empty or equal to the user password, the permissions would restrict nobody.
    ownerPassword: ownerPassword || randomBytes(16).toString('hex'),
    '256bit': { print, modify, extract: extract ? 'y' : 'n' },
  };
}

/** Formats page numbers for qpdf and joins consecutive ones: `1-3,7`. */
function ranges(pages: readonly number[]): string {
  const runs: Array<[first: number, last: number]> = [];
  for (const page of pages) {
    const run = runs.at(-1);
    if (run && run[1] === page - 1) run[1] = page;
    else runs.push([page, page]);
  }
  return runs.map(([first, last]) => (first === last ? first : `${first}-${last}`)).join(',');
}
