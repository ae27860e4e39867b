import { constants } from 'node:fs';
import { type FileHandle, open, readFile, rm } from 'node:fs/promises';

const { O_RDONLY, O_NOFOLLOW } = constants;

/**
 * Opens a new file of a request in place of an existing one. Never writes through a link, although the browser cannot
 * create one there, because this process is not sandboxed.
 */
export async function openOutput(path: string): Promise<FileHandle> {
  await rm(path, { force: true });
  // Exclusive, so that it fails if anything exists at this path, even a dangling link.
  return open(path, 'wx', 0o600);
}

/** Writes a file without following links; see `openOutput`. */
export async function writeOutput(path: string, data: Uint8Array): Promise<void> {
  const file = await openOutput(path);
  try {
    await file.writeFile(data);
  } finally {
    await file.close();
  }
}

/** Reads a file that was written by `writeOutput`. */
export async function readOutput(path: string): Promise<Buffer> {
  return readFile(path, { flag: O_RDONLY | O_NOFOLLOW });
}
