import { createWriteStream } from 'node:fs';
import { glob, stat } from 'node:fs/promises';
import { join, relative } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { ZipFile } from 'yazl';

/** Fixed modification time, so that unchanged files result in the same archive, which `cdk` does not upload again. */
const MODIFIED = new Date(1980, 0, 1);

/**
 * Writes the files of a layer as a ZIP archive, except those that start with a dot. `cdk` archives folders itself,
 * but on Windows files have no permissions, and an engine that is not executable does not start.
 * @throws Error for a symbolic link.
 */
export async function archiveLayer(folder: string, archive: string): Promise<void> {
  const zip = new ZipFile();
  const written = pipeline(zip.outputStream, createWriteStream(archive));
  const paths: string[] = [];
  for await (const entry of glob('**', { cwd: folder, withFileTypes: true }))
    if (entry.isSymbolicLink()) throw new Error(`${join(entry.parentPath, entry.name)} is a symbolic link.`);
    else if (entry.isFile()) paths.push(join(entry.parentPath, entry.name));
  for (const path of paths.sort()) {
    const { mode } = await stat(path);
    zip.addFile(path, relative(folder, path), { mode, mtime: MODIFIED, forceDosTimestamp: true });
  }
  zip.end();
  await written;
}
