import { createHash } from 'node:crypto';
import { rmSync } from 'node:fs';

/**
 * Deletes the sockets that LibreOffice creates in `/tmp` and leaves behind if it is killed. Their names are derived from the
 * URL of its profile, and from the user if known.
 */
export function removePipes(profileUrl: string): void {
  const hash = createHash('md5').update(Buffer.from(profileUrl, 'utf16le')).digest();
  const name = `SingleOfficeIPC_${[...hash].map((byte) => byte.toString(16)).join('')}`;
  for (const each of [name, `${process.getuid?.()}_${name}`])
    rmSync(`/tmp/OSL_PIPE_${each}`, { force: true });
}
