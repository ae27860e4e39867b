import {
  copyFileSync,
  linkSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  opendirSync,
  realpathSync,
  renameSync,
  unlinkSync,
} from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { removeTree } from './linux/remove.ts';

/** The files of one request while a worker processes it. */
export interface Workspace {
  /** The request, with the paths of its files in the workspace. */
  readonly request: object;
  /**
   * Moves the files that a message of the worker names to the conversion's directory, and returns it with
   * their paths there. Throws an error if all messages together name too many.
   */
  collect(message: unknown): unknown;
  /** Moves all other files to the conversion's directory. Returns false, and moves none, if there are too many. */
  collectAll(): boolean;
  /** Empties the workspace if `collectAll` left only given files. Otherwise deletes it and returns false. */
  empty(): Promise<boolean>;
  /** Deletes the workspace. */
  close(): Promise<void>;
}

/**
 * Files that the messages of a request name, and at its end. The server's main thread moves them. A conversion has
 * fewer results.
 */
const MAX_FILES = 2000;

/**
 * Returns a folder for the files of a worker's next request, in its home directory, whose path must contain no links: the one
 * that its last request left empty, unless something has deleted or replaced it, or a new one.
 */
export function requestFolder(home: string, last: string | undefined): string {
  return last !== undefined && isBelow(last, last) ? last : mkdtempSync(join(home, 'request-'));
}

/**
 * Gives a worker the files that a request names, in a folder of its home directory. That is the only directory it can open,
 * so a compromised worker cannot access another conversion, even if it knows the path.
 * The files are hard links: nothing is copied, and a worker can change only files of its own conversion.
 */
export function openWorkspace(folder: string, directory: string, request: object): Workspace {
  const [outside, inside] = [placeOf(directory), placeOf(folder)];
  const given = new Set<string>();

  const give = (name: string) => {
    const from = join(directory, name);
    const to = join(folder, name);
    if (dirname(name) !== '.') mkdirSync(dirname(to), { recursive: true });
    if (given.has(name) || !lstatSync(from, { throwIfNoEntry: false })?.isFile()) return;
    linkOrCopy(from, to);
    given.add(name);
  };
  let named = 0;
  const takeNamed = (name: string) => {
    named += 1;
    if (named > MAX_FILES) throw new Error('it names too many files');
    take(name);
  };
  const take = (name: string) => {
    const path = join(folder, name);
    // Without a sandbox, a worker can replace a directory by a link to one outside.
    if (!isBelow(folder, dirname(path))) return false;
    // A worker can create things other than files. None of them is an output.
    if (given.has(name) || !lstatSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    renameSync(path, join(directory, name));
    return true;
  };
  /** Names in the folder after `collectAll`. */
  let left: readonly string[] | undefined;

  return {
    request: moveStrings(request, outside, inside, give) as object,
    collect: (message) => moveStrings(message, inside, outside, takeNamed),
    collectAll: () => {
      const names = isBelow(folder, folder) ? listAtMost(folder, MAX_FILES) : [];
      left = names?.filter((name) => !take(name));
      return names !== undefined;
    },
    empty: async () => {
      const paths = left?.map((name) => join(folder, name));
      if (!paths?.every(isOneOfSeveralLinks) || !isBelow(folder, folder)) {
        await removeTree(folder);
        return false;
      }
      for (const path of paths) unlinkSync(path);
      return true;
    },
    close: () => removeTree(folder),
  };
}

/** Whether this is a file that remains under another name: deleting the last link to a large file takes long. */
function isOneOfSeveralLinks(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.nlink > 1;
}

/** Whether a directory, with all links resolved, is another one or in it. */
function isBelow(parent: string, directory: string): boolean {
  try {
    return `${realpathSync.native(directory)}/`.startsWith(`${parent}/`);
  } catch {
    // It does not exist.
    return false;
  }
}

/** Returns the names in a directory, or `undefined` if there are more than `max`. */
function listAtMost(directory: string, max: number): string[] | undefined {
  const names: string[] = [];
  const entries = opendirSync(directory, { bufferSize: 256 });
  try {
    for (let entry = entries.readSync(); entry; entry = entries.readSync()) {
      if (names.push(entry.name) > max) return undefined;
    }
  } finally {
    entries.closeSync();
  }
  return names;
}

/** A directory as it occurs in messages. */
interface Place {
  readonly path: string;
  readonly url: string;
}

function placeOf(path: string): Place {
  return { path, url: pathToFileURL(path).href };
}

/** Replaces a directory in all strings of a value, and calls `found` with the path, below it, of each file that is named. */
function moveStrings(value: unknown, from: Place, to: Place, found: (name: string) => void): unknown {
  const move = (each: unknown): unknown => {
    if (typeof each === 'string') return moveString(each);
    if (Array.isArray(each)) return each.map(move);
    if (typeof each !== 'object' || each === null) return each;
    return Object.fromEntries(Object.entries(each).map(([key, inner]) => [key, move(inner)]));
  };

  // The names of directories are random, so nothing else contains them.
  const moveString = (text: string): string => {
    const path = text.startsWith(`${from.url}/`) ? fileURLToPath(text) : text;
    if (path.startsWith(`${from.path}/`)) {
      const name = normalize(path.slice(from.path.length + 1));
      if (!/^\.\.?(\/|$)/.test(name)) found(name);
    }
    return text.replaceAll(from.url, () => to.url).replaceAll(from.path, () => to.path);
  };

  return move(value);
}

/** File systems without hard links get a copy. */
function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
