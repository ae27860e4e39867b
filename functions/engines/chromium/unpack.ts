import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { scanArchive } from '../office/detect/archive.ts';

export interface UnpackRequest {
  readonly path: string;
  /** The file that the content of all entries is written to, one after another. */
  readonly target: string;
}

/** The position of an entry in the target. */
export interface UnpackedEntry {
  readonly name: string;
  readonly start: number;
  readonly bytes: number;
}

/** Unpacks an archive into one file, so that no name in it is ever used as a path. */
export async function unpack({ path, target }: UnpackRequest): Promise<UnpackedEntry[]> {
  const file = openSync(target, 'wx', 0o600);
  const entries = new Map<string, { place: number; start: number; bytes: number }>();
  let end = 0;
  try {
    await scanArchive(readFileSync(path), (name, piece, place) => {
      const entry = entries.get(name) ?? { place, start: end, bytes: 0 };
      // Of several entries with the same name, the first one counts.
      if (entry.place !== place) return;
      for (let written = 0; written < piece.length; ) written += writeSync(file, piece, written);
      end += piece.length;
      entries.set(name, { ...entry, bytes: entry.bytes + piece.length });
    });
  } finally {
    closeSync(file);
  }
  return [...entries].map(([name, { start, bytes }]) => ({ name, start, bytes }));
}
