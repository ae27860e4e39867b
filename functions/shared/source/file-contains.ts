import { createReadStream } from 'node:fs';

/** Whether a file contains one of some ASCII texts. Reads it in parts, because it may be large. */
export async function fileContains(path: string, ...texts: readonly string[]): Promise<boolean> {
  const overlap = Math.max(...texts.map(({ length }) => length)) - 1;
  let part = '';
  for await (const read of createReadStream(path, { encoding: 'latin1', highWaterMark: 1 << 20 })) {
    part = part.slice(-overlap) + read;
    if (texts.some((text) => part.includes(text))) return true;
  }
  return false;
}
