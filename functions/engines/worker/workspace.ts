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
import type { Work } from '../protocol.ts';
import { removeTree } from './linux/remove.ts';

/** The files of one request while a worker processes it. */
interface Workspace {
  /** Moves a finished output to the conversion's directory. Throws if it is not granted, or if there are too many. */
  collect(name: string): void;
  /** Moves all other outputs to the conversion's directory. If there are too many, returns false and moves none. */
  collectAll(): boolean;
  /** Empties the workspace if `collectAll` left only inputs. Otherwise deletes it and returns false. */
  empty(): Promise<boolean>;
  /** Deletes the workspace. */
  close(): Promise<void>;
}

/** Maximum output files per request, because the main thread moves each of them. No conversion has this many. */
const MAX_FILES = 2000;

/**
 * Returns a folder in the worker's home directory for the files of its next request: the empty folder of its last
 * request, or a new one if that was deleted or replaced. The path must contain no links.
 */
export function requestFolder(home: string, last: string | undefined): string {
  return last !== undefined && isBelow(last, last) ? last : mkdtempSync(join(home, 'request-'));
}

/**
 * Gives a worker the inputs of a request, in a folder of its home directory. That is the only directory it can open,
 * so a compromised worker cannot access another conversion, even if it knows the path. The files are hard links, so
 * nothing is copied, and a worker can change only the files of its conversion.
 */
export function openWorkspace(
  folder: string,
  directory: string,
  { inputs = [], outputs = [] }: Pick<Work, 'inputs' | 'outputs'>,
): Workspace {
  const granted = new Set<string>();
  for (const name of inputs) {
    if (!isName(name)) throw new Error(`${name} is not a file of the conversion.`);
    if (dirname(name) !== '.') mkdirSync(dirname(join(folder, name)), { recursive: true });
    linkOrCopy(join(directory, name), join(folder, name));
    granted.add(name);
  }
  const isGranted = (name: string) =>
    !granted.has(name) && (outputs === '.' ? isName(name) && dirname(name) === '.' : outputs.includes(name));
  const take = (name: string) => {
    const path = join(folder, name);
    // Without a sandbox, a worker can replace a directory with a link to one outside.
    if (!isBelow(folder, dirname(path))) return false;
    // A worker can create things other than files. None of them is an output.
    if (!isGranted(name) || !lstatSync(path, { throwIfNoEntry: false })?.isFile()) return false;
    renameSync(path, join(directory, name));
    return true;
  };
  let named = 0;
  /** Names left in the folder after `collectAll`. */
  let left: readonly string[] | undefined;

  return {
    collect: (name) => {
      named += 1;
      if (named > MAX_FILES) throw new Error('it names too many files');
      if (!isGranted(name)) throw new Error('it names a file that is not an output');
      take(name);
    },
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

/** Whether this is a relative path that stays in its directory. */
function isName(name: string): boolean {
  return name !== '' && name !== '.' && normalize(name) === name && !/^(\/|\.\.(\/|$))/.test(name);
}

/** Whether this file also has another name. Deleting the last link to a large file takes long. */
function isOneOfSeveralLinks(path: string): boolean {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  return stats?.isFile() === true && stats.nlink > 1;
}

/** Whether a directory, with all links resolved, is inside another one or the same. */
function isBelow(parent: string, directory: string): boolean {
  try {
    return `${realpathSync.native(directory)}/`.startsWith(`${parent}/`);
  } catch {
    // The directory does not exist.
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

/** Gives a file a second name. On file systems without hard links, copies it. */
export function linkOrCopy(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    copyFileSync(from, to);
  }
}
