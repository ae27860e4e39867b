import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** Where a document points to. */
export interface Target {
  /** An address on the network, or a file of the machine. */
  readonly url: string;
  /** The same as a plain name: `\\host\share\x` or `/path/x`. */
  readonly path: string;
}

/** A document that makes an office suite reach a target when it is opened, if it lets itself be made. */
export interface LeakFile {
  readonly name: string;
  /** Extension that the file is served under. */
  readonly extension: string;
  bytes(target: Target): Promise<Buffer>;
}

/** Packs parts into a ZIP; `mimetype` goes first and unpacked, as OpenDocument wants it. */
export async function pack(parts: Readonly<Record<string, string | Buffer>>): Promise<Buffer> {
  const zip = new ZipFile();
  const order = Object.keys(parts).sort((one) => (one === 'mimetype' ? -1 : 0));
  for (const name of order) zip.addBuffer(Buffer.from(parts[name]!), name, { compress: name !== 'mimetype' });
  zip.end();
  return buffer(zip.outputStream as NodeJS.ReadableStream);
}

/** Writes a text for an XML attribute. */
export function quoted(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;').replaceAll('<', '&lt;');
}

/** A picture of one pixel. */
export const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
