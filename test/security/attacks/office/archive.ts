import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';

/** Target of a reference in a document. */
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

/** A part of an archive: its content, or the file that it points to as a symbolic link. */
export type Part = string | Buffer | { readonly linkTo: string };

/** A symbolic link, as the mode of a file. */
const LINK_MODE = 0o120777;

/** Packs parts into a ZIP file. `mimetype` comes first and uncompressed, as OpenDocument requires. */
export async function pack(parts: Readonly<Record<string, Part>>): Promise<Buffer> {
  const zip = new ZipFile();
  const order = Object.keys(parts).sort((one) => (one === 'mimetype' ? -1 : 0));
  for (const name of order) {
    const part = parts[name]!;
    const isLink = typeof part === 'object' && 'linkTo' in part;
    zip.addBuffer(Buffer.from(isLink ? part.linkTo : part), withoutParents(name), {
      compress: name !== 'mimetype',
      ...(isLink && { mode: LINK_MODE }),
    });
  }
  zip.end();
  return withParents(await buffer(zip.outputStream as NodeJS.ReadableStream));
}

/** The library rejects names that lead out of the archive, so they are put in afterwards. */
const [PARENT, STAND_IN] = ['../', '\x01\x02/'];

function withoutParents(name: string): string {
  return name.replaceAll(PARENT, STAND_IN);
}

function withParents(archive: Buffer): Buffer {
  return Buffer.from(archive.toString('latin1').replaceAll(STAND_IN, PARENT), 'latin1');
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
