import { buffer } from 'node:stream/consumers';
import { fromBuffer } from 'yauzl';

export interface ZipEntry {
  readonly name: string;
  readonly content: Buffer;
}

/** Reads an archive and checks sizes and names, with a different library than the one that writes archives. */
export function unzip(archive: Buffer): Promise<ZipEntry[]> {
  return new Promise((resolve, reject) => {
    fromBuffer(archive, { lazyEntries: true }, (cause, file) => {
      if (cause) return reject(cause);
      const entries: ZipEntry[] = [];
      file.on('error', reject).on('end', () => resolve(entries));
      file.on('entry', (entry) => {
        file.openReadStream(entry, async (failure, stream) => {
          if (failure) return reject(failure);
          try {
            entries.push({ name: entry.fileName, content: await buffer(stream) });
            file.readEntry();
          } catch (damaged) {
            reject(damaged);
          }
        });
      });
      file.readEntry();
    });
  });
}
