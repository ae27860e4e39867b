import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** What a document refers to. */
export interface Target {
  /** A URL on the network, or a file on the machine. */
  readonly url: string;
  /** The same as a plain name: `\\host\share\x` or `/path/x`. */
  readonly path: string;
}

/** A document that makes an unprotected office suite access a target when it is opened. */
export interface LeakFile {
  readonly name: string;
  /** Extension with which the file is served. */
  readonly extension: string;
  bytes(target: Target): Promise<Buffer>;
}

/** Packs parts into a ZIP file. `mimetype` comes first and uncompressed, as OpenDocument requires. */
export async function pack(parts: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new ZipFile();
  const order = Object.keys(parts).sort((one) => (one === 'mimetype' ? -1 : 0));
  for (const name of order) zip.addBuffer(Buffer.from(parts[name]!), name, { compress: name !== 'mimetype' });
  zip.end();
  return buffer(zip.outputStream as NodeJS.ReadableStream);
}

/** Escapes a text for an XML attribute. */
export function quoted(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/** An image of one pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
