import { open, rename, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ConversionError } from '../../shared/errors.ts';
import {
  declaresEncoding,
  HEAD_BYTES,
  kindOfBytes,
  notAPageError,
  READERS,
} from '../../shared/source/file-kind.ts';
import type { Conversion, Download, PageFile } from '../../shared/tool.ts';
import type { WorkerRequest } from '../worker/pool.ts';
import { type ScriptDependencies, sandboxedPool, withoutObserver } from '../worker/sandbox.ts';
import type { PageOptions } from './page-options.ts';
import { type ServedFile, servedPath } from './proxy/served-files.ts';
import type { UnpackedEntry } from './unpack.ts';

/** The host of uploaded pages, which does not exist. Only the conversion's own proxy serves it. */
const ORIGIN = 'http://upload.invalid';

/** An uploaded page in the conversion's directory. */
interface UploadedPage {
  readonly url: URL;
  /** Its files by the path in their URLs. */
  readonly files: ReadonlyMap<string, ServedFile>;
}

interface Dependencies {
  readonly download: Download;
  readonly unpack: Unpack;
}

/**
 * Downloads the files of an uploaded page. A ZIP archive is unpacked, and its `index.html` is the page.
 * @throws ConversionError also `UNSUPPORTED_SOURCE` for an archive without that file.
 */
export async function openUploadedPage(
  uploaded: readonly PageFile[],
  conversion: Pick<
    Conversion<Pick<PageOptions, 'encoding'>>,
    'directory' | 'limits' | 'signal' | 'account' | 'options'
  >,
  { download, unpack }: Dependencies,
): Promise<UploadedPage> {
  const { directory, limits, signal, account, options } = conversion;
  const files = new Map<string, ServedFile>();
  /** Of several files with the same path, the first one counts. */
  const add = (path: string, file: ServedFile) => {
    const key = servedPath(path);
    if (!files.has(key)) files.set(key, file);
    return key;
  };
  let page: string | undefined;
  for (const [index, { path, url }] of uploaded.entries()) {
    const source = await download(url, { directory, limits, signal, account });
    const file = join(directory, `upload-${index}`);
    await rename(source.path, file);
    const head = index > 0 ? '' : await headOf({ file, start: 0, bytes: source.bytes });
    const kind = kindOfBytes(head);
    // Browsers show images.
    if (kind && kind.readers !== READERS.page && kind.readers !== READERS.image) throw notAPageError(kind);
    if (!head.startsWith('PK\x03\x04')) {
      const key = add(path, { file, start: 0, bytes: source.bytes });
      page ??= key;
      continue;
    }
    const unpacked = await unpack(file, { directory, signal, account });
    for (const [name, entry] of unpacked) add(name, entry);
    page = indexOf([...files.keys()]);
    await rm(file);
  }
  const entry = files.get(page!)!;
  const head = await headOf(entry);
  files.set(page!, {
    ...entry,
    page: { isEncoded: declaresEncoding(head) || options.encoding !== undefined },
  });
  const path = page!.split('/').map(encodeURIComponent).join('/');
  return { url: new URL(`${ORIGIN}/${path}`), files };
}

/** Returns the least deeply nested `index.html`: people often archive a folder instead of its content. */
function indexOf(names: readonly string[]): string {
  const depth = (name: string) => name.split('/').length;
  const [index] = names
    .filter((name) => /(^|\/)index\.html?$/i.test(name))
    .sort((a, b) => depth(a) - depth(b));
  if (index !== undefined) return index;
  throw new ConversionError('UNSUPPORTED_SOURCE', 'The archive must contain the page as index.html.');
}

/** Returns the first bytes of a file as Latin-1. */
async function headOf({ file, start, bytes }: ServedFile): Promise<string> {
  const opened = await open(file);
  try {
    const length = Math.min(bytes, HEAD_BYTES);
    const { buffer } = await opened.read(Buffer.alloc(length), 0, length, start);
    return buffer.toString('latin1');
  } finally {
    await opened.close();
  }
}

/** Unpacks an archive and returns its entries by name. */
type Unpack = (path: string, request: WorkerRequest) => Promise<Map<string, ServedFile>>;

const SCRIPT = fileURLToPath(new URL('./unpack-worker.ts', import.meta.url));
const TARGET = 'unpacked';

/** Unpacks archives in sandboxed workers, which start with the first archive. */
export function createUnpacker(dependencies: ScriptDependencies): {
  readonly unpack: Unpack;
  close(): Promise<void>;
} {
  const limits = { heap: 256, requests: 100, cost: 60, memory: 300, maxMemory: 800 };
  const client = sandboxedPool(withoutObserver(dependencies), { script: SCRIPT, ...limits });
  return {
    unpack: async (path, request) => {
      const name = basename(path);
      const entries = await client.run<UnpackedEntry[]>(
        {
          operation: 'unpack',
          arguments: { path: name, target: TARGET },
          inputs: [name],
          outputs: [TARGET],
        },
        request,
      );
      const file = join(request.directory, TARGET);
      return checked(entries, file, (await stat(file)).size);
    },
    close: () => client.close(),
  };
}

/** Checks a worker's answer, which is not trusted because the worker has read a hostile archive. */
function checked(entries: readonly UnpackedEntry[], file: string, size: number): Map<string, ServedFile> {
  const isPlace = (value: unknown) => Number.isSafeInteger(value) && (value as number) >= 0;
  const isValid = ({ name, start, bytes }: UnpackedEntry) =>
    typeof name === 'string' && isPlace(start) && isPlace(bytes) && start + bytes <= size;
  if (!Array.isArray(entries) || !entries.every(isValid)) {
    throw new ConversionError('CORRUPT_SOURCE', 'The archive is damaged.');
  }
  return new Map(entries.map(({ name, start, bytes }) => [name, { file, start, bytes }]));
}
