import { mkdir, rm } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConversionError } from '../../shared/errors.ts';
import { withTimeout } from '../../shared/time.ts';
import { type ScriptDependencies, sandboxedPool } from '../worker/sandbox.ts';
import { linkOrCopy } from '../worker/workspace.ts';
import { SEPARATORS } from './detect/encoding.ts';
import { DEFAULT_LOCALE, systemLocaleOf } from './host.ts';
import { type Input, readInput } from './inputs.ts';
import type { OfficeConversion } from './options.ts';
import { readEditable } from './outputs.ts';
import { type Prepared, REWRITTEN, type SourceOperations } from './request.ts';
import { chunkFile, MAX_CHUNKS } from './word/chunks.ts';

const SCRIPT = fileURLToPath(new URL('./worker.ts', import.meta.url));
/** Timeout for recognizing a source or counting pages, in milliseconds. The largest sources take a tenth of it. */
const TASK_TIME = 30_000;
const CHUNK_FILES = Array.from({ length: MAX_CHUNKS }, (_, index) => chunkFile(index));
/** Maximum bytes of a document's name, without its extension. */
const NAME_BYTES = 150;

/** A source as LibreOffice gets it. */
export interface Document {
  readonly path: string;
  readonly kind: Input;
  readonly encrypted: boolean;
  /** Name of the locale for dates and numbers, such as `de_DE`. */
  readonly locale: string;
  /** Separator of a text table; `undefined` for all other documents. */
  readonly separator: string | undefined;
  /** Whether East Asian and Western text have no space between them. */
  readonly isTight: boolean;
  /** Number of pages in Word, or 0 if it only marked where they begin; `undefined` to leave the pages to LibreOffice. */
  readonly pages: number | undefined;
  /** Whether fields in headers or footers have to be computed for each page. */
  readonly hasPageFields: boolean;
  /** Documents that LibreOffice leaves out of a Word document; `undefined` for those that it cannot open either. */
  readonly chunks: ReadonlyArray<Document | undefined>;
}

/** Creates the reader of sources and results. It uses sandboxed workers, because this process parses neither. */
export function createSources(dependencies: ScriptDependencies) {
  const limits = { heap: 512, requests: 500, cost: 60, memory: 300, maxMemory: 1000 };
  const client = sandboxedPool(dependencies, { script: SCRIPT, ...limits });

  function run<Reply>(
    operation: keyof SourceOperations,
    args: SourceOperations[typeof operation],
    { account, signal, directory }: OfficeConversion,
  ): Promise<Reply> {
    const inputs = [args.path, ...('files' in args ? args.files : [])];
    const work = { operation, arguments: args, inputs, outputs: [REWRITTEN, ...CHUNK_FILES] };
    return withTimeout(TASK_TIME, signal, (limited) =>
      client.run<Reply>(work, { account, directory, signal: limited }),
    );
  }

  /** Recognizes a source and gives it a name that LibreOffice can rely on. */
  async function prepare(conversion: OfficeConversion): Promise<Document> {
    const { source, options, directory } = conversion;
    const { kind: declared, encoding } = options;
    const claims = { declared, name: source.name, contentType: source.contentType };
    const path = relative(directory, source.path);
    const editable = readEditable(conversion.format);
    const isPrinted = editable === undefined;
    const hasFormulas = !isPrinted && editable !== 'csv';
    const task = { path, claims, encoding, isPrinted, hasFormulas };
    const reply = await run<Prepared>('prepare', task, conversion);
    const kind = readInput(reply.kind);
    // The source may have compromised the worker.
    if (!kind) throw new ConversionError('CONVERSION_FAILED');
    // LibreOffice shows the document's name in headers. A PDF is written beside the document, because its links to
    // other files are relative. Other formats may have the document's name, so they need a separate folder.
    const folder = editable ? join(directory, 'document') : directory;
    await mkdir(folder, { recursive: true });
    const named = join(folder, `${documentName(source.name)}.${kind}`);
    linkOrCopy(reply.isRewritten === true ? join(directory, REWRITTEN) : source.path, named);
    const separator =
      kind === 'csv' || kind === 'tsv' ? (options.separator ?? pickSeparator(reply)) : undefined;
    const { pages } = reply;
    const isCount = Number.isSafeInteger(pages);
    const locale = localeOf([reply.language, options.locale, dependencies.locale]);
    const plain = { encrypted: false, locale, separator: undefined, isTight: false, hasPageFields: false };
    const chunks = (reply.chunks ?? []).slice(0, MAX_CHUNKS).map((name, index): Document | undefined => {
      const own = readInput(name);
      if (!own) return undefined;
      const file = join(directory, `${chunkFile(index)}.${own}`);
      linkOrCopy(join(directory, chunkFile(index)), file);
      return { ...plain, path: file, kind: own, pages: undefined, chunks: [] };
    });
    return {
      path: named,
      kind,
      encrypted: reply.encrypted === true,
      locale,
      separator,
      isTight: reply.isTight === true && isPrinted,
      pages: isCount && chunks.length === 0 ? pages : undefined,
      hasPageFields: reply.hasPageFields === true,
      chunks,
    };
  }

  /** Counts the pages of a PDF. Returns 0 if it is not complete. */
  async function countPages(path: string, conversion: OfficeConversion): Promise<number> {
    const name = relative(conversion.directory, path);
    const pageCount = await run<number>('count', { path: name }, conversion);
    return Number.isSafeInteger(pageCount) ? pageCount : 0;
  }

  /** Removes from a document what LibreOffice may take too long for. Returns whether it has any of it. */
  async function simplify({ path }: Document, conversion: OfficeConversion): Promise<boolean> {
    const name = relative(conversion.directory, path);
    if ((await run<boolean>('simplify', { path: name }, conversion)) !== true) return false;
    await replace(path, join(conversion.directory, REWRITTEN));
    return true;
  }

  /** Puts Word documents in the place of the chunks of a document. */
  async function embed({ path }: Document, files: readonly string[], conversion: OfficeConversion) {
    await run('embed', { path: relative(conversion.directory, path), files }, conversion);
    await replace(path, join(conversion.directory, REWRITTEN));
  }

  /** Undoes everything that was changed in a document to make LibreOffice draw it as Word does. */
  async function restore(document: Document, { source }: OfficeConversion): Promise<Document> {
    await replace(document.path, source.path);
    return { ...document, pages: undefined, hasPageFields: false };
  }

  return {
    prepare,
    simplify,
    embed,
    restore,
    countPages,
    warm: () => client.warm(),
    close: () => client.close(),
  };
}

async function replace(path: string, by: string): Promise<void> {
  await rm(path);
  linkOrCopy(by, path);
}

/** Returns the first of some language tags that is a valid text, as a name of the C library. */
function localeOf(tags: readonly unknown[]): string {
  const names = tags.map((tag) => (typeof tag === 'string' ? systemLocaleOf(tag.slice(0, 30)) : undefined));
  return names.find((name) => name !== undefined) ?? systemLocaleOf(DEFAULT_LOCALE)!;
}

function pickSeparator({ separator }: Prepared): string {
  return SEPARATORS.find((each) => each === separator) ?? ',';
}

/** Returns the source's file name without its extension, truncated to the limit of file systems. */
function documentName(name: string): string {
  const bare = name
    .replace(/\.\w{1,7}$/, '')
    .replace(/[/\\\p{Cc}]/gu, '')
    .replace(/^\.+/, '');
  const bytes = Buffer.from(bare).subarray(0, NAME_BYTES).toString();
  return bytes.replace(/\ufffd+$/, '') || 'document';
}
