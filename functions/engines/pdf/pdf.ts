import { randomUUID } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { copyFile, stat, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { withoutAbsent } from '../../shared/without-absent.ts';
import type { StallTimeouts, WorkerPool, WorkerRequest } from '../worker/pool.ts';
import { type ScriptDependencies, sandboxedPool } from '../worker/sandbox.ts';
import type { EncryptionFacts, Marks } from './graph/marks.ts';
import type { GraphOperations } from './graph-worker.ts';
import { createPdfium, type Pdfium } from './pdfium.ts';
import {
  type Changes,
  createQpdf,
  type Edit,
  type Edited,
  type PdfFile,
  type Qpdf,
  type StreamList,
} from './qpdf.ts';

const GRAPH_SCRIPT = fileURLToPath(new URL('./graph-worker.ts', import.meta.url));
const GRAPH_LIMITS = { heap: 1024, requests: 200, cost: 60, memory: 500, maxMemory: 1500 };

/** The programs that read, draw and write the PDFs of one tool. */
export interface PdfPrograms {
  readonly qpdf: Qpdf;
  /** Processes that read and change objects, as JSON of qpdf; see `GraphOperations`. */
  readonly graphs: WorkerPool;
  readonly pdfium: Pdfium;
  close(): Promise<void>;
}

/** Creates the programs. They start when they are used. `times` replaces PDFium's timeouts. */
export function createPdfPrograms(dependencies: ScriptDependencies, times?: StallTimeouts): PdfPrograms {
  const qpdf = createQpdf(dependencies);
  const graphs = sandboxedPool(dependencies, { script: GRAPH_SCRIPT, ...GRAPH_LIMITS });
  const pdfium = createPdfium(dependencies, times);
  return {
    qpdf,
    graphs,
    pdfium,
    close: async () => {
      await Promise.all([qpdf.close(), graphs.close(), pdfium.close()]);
    },
  };
}

/**
 * Maximum bytes of the JSON with the objects of a document, or with the data of streams. Reading it takes several times
 * as much memory.
 */
export const MAX_JSON = 100_000_000;

/** A file with objects or streams of a PDF. */
interface PdfJson extends Edited {
  readonly path: string;
  readonly bytes: number;
}

/** Arguments of operations that name files. */
type FileArgument = 'graph' | 'target' | 'streams' | 'sources' | 'source' | 'fill';
type Operation = keyof GraphOperations;
type All<Name extends Operation> = Parameters<GraphOperations[Name]>[0];
type Arguments<Name extends Operation> = Omit<All<Name>, FileArgument>;
/** The files of an operation besides the objects of the PDF itself, by the argument that names them. */
type Files<Name extends Operation> = Omit<All<Name>, keyof Arguments<Name> | 'graph' | 'target'>;
type Reply<Name extends Operation> = Awaited<ReturnType<GraphOperations[Name]>>;

/** Operations that do not read the objects. */
const WITHOUT_OBJECTS: readonly Operation[] = ['marks', 'encryption'];

let made = 0;

/** Changes that give objects other numbers, or change those that an update was made for. */
const RESHAPING = [
  ...(['pages', 'rotate', 'before', 'overlay', 'stamp', 'merge', 'attachments'] as const),
  ...(['flatten', 'attach', 'imageQuality', 'removeMetadata'] as const),
] satisfies ReadonlyArray<keyof Changes>;

/** A PDF in the directory of a request. It never changes: an edit makes another one. */
export class Pdf implements PdfFile {
  readonly #file: PdfFile;
  /** Changes of the file that are not written yet. */
  readonly #changes: Changes | undefined;
  /** Known of PDFs that qpdf wrote. */
  readonly pageCount: number | undefined;
  readonly #programs: PdfPrograms;
  readonly #request: WorkerRequest;
  #objects: Promise<PdfJson> | undefined;
  #marks: Promise<Marks> | undefined;

  /** Everything that is done with the PDF is part of `request`. */
  constructor(
    programs: PdfPrograms,
    file: PdfFile,
    request: WorkerRequest,
    { pageCount, changes }: { readonly pageCount?: number; readonly changes?: Changes } = {},
  ) {
    this.#programs = programs;
    this.#file = file;
    this.#request = request;
    this.pageCount = pageCount;
    this.#changes = changes;
  }

  get path(): string {
    if (this.#changes) throw new Error('The changes of this PDF are not written yet.');
    return this.#file.path;
  }

  get password(): string | undefined {
    return this.#file.password;
  }

  /** Writes a PDF to a file. */
  static async create(programs: PdfPrograms, bytes: Buffer, request: WorkerRequest): Promise<Pdf> {
    const path = newFile(request, '.pdf');
    await writeFile(path, bytes);
    return new Pdf(programs, { path }, request);
  }

  /** Returns a changed copy. @throws ConversionError as for `Qpdf.edit` */
  async edit(changes: Changes): Promise<Pdf> {
    return (await this.plan(changes)).written();
  }

  /**
   * Returns a changed copy that is not written yet, so that further changes need no file in between. Its objects can be
   * read: they are those of the file after the changes.
   */
  async plan(changes: Changes): Promise<Pdf> {
    const { update, ...others } = withoutAbsent(changes);
    const planned = (more: Changes) =>
      new Pdf(this.#programs, this.#file, this.#request, { changes: { ...this.#changes, ...more } });
    if (update !== undefined && this.#changes?.update !== undefined)
      throw new Error('This PDF must be written before it is updated.');
    if (update !== undefined) return planned({ update }).plan(others);
    const isReshaping = RESHAPING.some((name) => [others[name]].flat().some(Boolean));
    // A linearized file is written twice, for which qpdf changes the fonts of merged fields only once.
    if (this.#changes && (isReshaping || others.linearize)) return (await this.written()).plan(others);
    return planned(others);
  }

  /** Writes the changes that were planned. @throws ConversionError as for `Qpdf.edit` */
  async written(): Promise<Pdf> {
    if (!this.#changes) return this;
    const path = newFile(this.#request, '.pdf');
    const { pageCount } = await this.#programs.qpdf.edit(this.#file, path, this.#changes, this.#request);
    const { decrypt, update } = this.#changes;
    const password = decrypt || update !== undefined ? undefined : this.password;
    return new Pdf(this.#programs, { path, password }, this.#request, { pageCount });
  }

  /** Returns a copy that ends with the bytes of another file. */
  async append(added: string): Promise<Pdf> {
    const path = newFile(this.#request, '.pdf');
    await copyFile(this.path, path);
    await pipeline(createReadStream(added), createWriteStream(path, { flags: 'a' }));
    return new Pdf(this.#programs, { path }, this.#request);
  }

  /** Returns a copy without encryption that PDFium has written. It opens some documents that qpdf cannot read. */
  async repair(): Promise<Pdf> {
    const path = newFile(this.#request, '.pdf');
    const source = { id: randomUUID(), path: this.path, password: this.password, cropBox: true };
    await this.#programs.pdfium.save(source, path, this.#request);
    return new Pdf(this.#programs, { path }, this.#request);
  }

  /** Returns the objects without the data of streams. Callers decide what happens above `MAX_JSON`. */
  objects(): Promise<PdfJson> {
    this.#objects ??= this.#json('objects');
    return this.#objects;
  }

  /** Returns the decoded data of streams: those in a list that an operation wrote, the contents of pages, or all. */
  async streams(of: StreamList | All<'streams'>['of']): Promise<PdfJson> {
    if (typeof of !== 'string') return this.#json(of);
    return this.#json({ path: (await this.write('streams', { of })).target, index: 0 });
  }

  /** Returns what the bytes of the file tell. */
  marks(): Promise<Marks> {
    this.#marks ??= this.ask('marks', {}, { source: this.path });
    return this.#marks;
  }

  async encryption(): Promise<EncryptionFacts> {
    return this.ask('encryption', {}, { source: (await this.#json('encryption')).path });
  }

  /** Runs an operation that reads the objects, or only `source` if that is all it takes. */
  async ask<Name extends Operation>(
    operation: Name,
    args: Arguments<Name>,
    files: Partial<Files<Name>> = {},
  ): Promise<Reply<Name>> {
    return this.#run(operation, args, files);
  }

  /** Runs an operation that writes a file, and returns its path and the reply. */
  async write<Name extends Operation>(
    operation: Name,
    args: Arguments<Name>,
    files: Partial<Files<Name>> = {},
  ): Promise<{ readonly target: string; readonly reply: Reply<Name> }> {
    const target = newFile(this.#request, '.json');
    return { target, reply: await this.#run(operation, args, files, target) };
  }

  async #run<Name extends Operation>(
    operation: Name,
    args: Arguments<Name>,
    files: Partial<Files<Name>>,
    target?: string,
  ): Promise<Reply<Name>> {
    const { account, signal, directory, onQueued } = this.#request;
    const nameOf = (path: string) => relative(directory, path);
    const inputs: string[] = [];
    const input = (path: string) => {
      inputs.push(nameOf(path));
      return nameOf(path);
    };
    const given: Record<string, string | readonly string[]> = {
      ...(!WITHOUT_OBJECTS.includes(operation) && { graph: (await this.objects()).path }),
      ...files,
    };
    const names = Object.entries(given).map(([name, file]) => [
      name,
      typeof file === 'string' ? input(file) : file?.map(input),
    ]);
    const outputs = target === undefined ? [] : [nameOf(target)];
    const all = { ...args, ...Object.fromEntries(names), target: outputs[0] };
    const request = { account, signal, directory, ...(onQueued && { onQueued }) };
    return this.#programs.graphs.run<Reply<Name>>({ operation, arguments: all, inputs, outputs }, request);
  }

  async #json(json: NonNullable<Edit['json']>): Promise<PdfJson> {
    const path = newFile(this.#request, '.json');
    const edit = { ...this.#changes, json };
    const edited = await this.#programs.qpdf.edit(this.#file, path, edit, this.#request);
    return { ...edited, path, bytes: (await stat(path)).size };
  }
}

function newFile({ directory }: WorkerRequest, extension: string): string {
  made += 1;
  return join(directory, `made-${made}${extension}`);
}
