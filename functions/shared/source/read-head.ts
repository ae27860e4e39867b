import { open } from 'node:fs/promises';
import { HEAD_BYTES } from './file-kind.ts';

/** Returns the bytes of a file that decide about its kind, one character for each. */
export async function readHead(path: string): Promise<string> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.toString('latin1', 0, bytesRead);
}
