import { createHash } from 'node:crypto';
import { globSync, openAsBlob, readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, relative, resolve } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { UsageError } from './command.ts';

/** A source to convert. */
export interface Input {
  /** Name of the source in messages. */
  readonly name: string;
  /** Path below the directory of the results, with the extension of the source. */
  readonly path: string;
  /** Identifies the source in the ledger: its URL or absolute path. */
  readonly id: string;
  /** Value that changes when the file is written. */
  readonly version: string;
  /** Opens the file. Absent for a URL. */
  readonly open?: () => Promise<Blob>;
}

/** Finds the inputs that the arguments name. @throws UsageError for one that does not exist. */
export async function findInputs(args: readonly string[], list?: string): Promise<Input[]> {
  const listed = list === undefined ? [] : readList(list);
  return (await Promise.all([...args, ...listed].map(inputsOf))).flat();
}

function readList(path: string): string[] {
  try {
    const lines = readFileSync(path === '-' ? 0 : path, 'utf8').split('\n');
    return lines.map((line) => line.trim()).filter((line) => line !== '');
  } catch (cause) {
    throw new UsageError(`--list ${path} cannot be read: ${(cause as Error).message}`, { cause });
  }
}

async function inputsOf(arg: string): Promise<Input[]> {
  if (arg === '-') return [await standardInput()];
  if (/^https?:\/\//i.test(arg)) return [urlInput(arg)];
  const stats = statSync(arg, { throwIfNoEntry: false });
  if (stats?.isDirectory()) return filesIn('**/*', arg);
  if (stats) return [fileInput(arg, basename(arg))];
  // The directory that precedes the first wildcard.
  const base = dirname(/^[^*?[{]*/.exec(arg)![0].concat('x'));
  const found = /[*?[{]/.test(arg) ? filesIn(relative(base, arg), base) : [];
  if (found.length === 0) throw new UsageError(`There is no file '${arg}'.`);
  return found;
}

/** Returns the files below a directory that match a glob. Hidden ones are left out. */
function filesIn(glob: string, directory: string): Input[] {
  return globSync(glob, { cwd: directory, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .filter((path) => !/(^|\/)\.[^/]/.test(relative(directory, path)))
    .sort()
    .map((path) => fileInput(join(directory, relative(directory, path)), relative(directory, path)));
}

export function fileInput(name: string, path: string): Input {
  const { size, mtimeMs } = statSync(name);
  return { name, path, id: resolve(name), version: `${size} ${mtimeMs}`, open: () => openAsBlob(name) };
}

function urlInput(url: string): Input {
  const { hostname, pathname } = URL.parse(url) ?? {};
  if (hostname === undefined) throw new UsageError(`'${url}' is not a URL.`);
  const last = basename(pathname ?? '');
  return { name: url, path: last === '' ? `${hostname}.html` : safely(last), id: url, version: '' };
}

async function standardInput(): Promise<Input> {
  const bytes = await buffer(process.stdin);
  const version = createHash('sha256').update(bytes).digest('hex');
  return { name: 'standard input', path: '', id: '-', version, open: async () => new Blob([bytes]) };
}

function safely(encoded: string): string {
  try {
    return basename(decodeURIComponent(encoded));
  } catch {
    return encoded;
  }
}
