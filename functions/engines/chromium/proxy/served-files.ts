import { createReadStream } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { extname } from 'node:path';
import { pipeline } from 'node:stream';

/** A file of an uploaded page: a part of a file in the conversion's directory. */
export interface ServedFile {
  readonly file: string;
  readonly start: number;
  readonly bytes: number;
  /** Set for the page itself, which is served as HTML unless its extension is that of another type. */
  readonly page?: { readonly isEncoded: boolean };
}

/** The files of a host that only the proxy knows, by URL path. */
export interface ServedFiles {
  readonly host: string;
  readonly files: ReadonlyMap<string, ServedFile>;
}

/** Media types that browsers do not sniff. */
const CONTENT_TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html',
  '.htm': 'text/html',
  '.xhtml': 'application/xhtml+xml',
  '.xml': 'application/xml',
  '.css': 'text/css',
  '.js': 'text/javascript',
  '.mjs': 'text/javascript',
  '.json': 'application/json',
  '.txt': 'text/plain',
  '.csv': 'text/plain',
  '.md': 'text/plain',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
  '.avif': 'image/avif',
  '.ico': 'image/x-icon',
  '.woff': 'font/woff',
  '.woff2': 'font/woff2',
  '.ttf': 'font/ttf',
  '.otf': 'font/otf',
  '.wasm': 'application/wasm',
  '.mp4': 'video/mp4',
  '.webm': 'video/webm',
};

/** Responds with a file of an uploaded page, or 404. */
export function serveUploaded(
  { pathname }: URL,
  { method }: IncomingMessage,
  response: ServerResponse,
  { files }: ServedFiles,
): void {
  const found = files.get(servedPath(decode(pathname.slice(1))));
  if (!found || (method !== 'GET' && method !== 'HEAD')) {
    response.writeHead(found ? 405 : 404, { 'content-length': 0 }).end();
    return;
  }
  const { file, start, bytes, page } = found;
  const known = CONTENT_TYPES[extname(pathname).toLowerCase()];
  const type = known ?? (page ? 'text/html' : 'application/octet-stream');
  const charset = page && !page.isEncoded && /^text\//.test(type) ? '; charset=utf-8' : '';
  response.writeHead(200, { 'content-type': `${type}${charset}`, 'content-length': bytes });
  if (method === 'HEAD' || bytes === 0) {
    response.end();
    return;
  }
  // Closes the file too if the page aborts the request.
  pipeline(createReadStream(file, { start, end: start + bytes - 1 }), response, () => {});
}

/** More combining marks than any text has (UAX #15 calls 30 the limit). Normalizing takes quadratic time of their number. */
const LONG_SEQUENCE = /\p{M}{31}/u;

/** Returns the path that a file is looked up by. Operating systems encode the same accented letter in two ways. */
export function servedPath(path: string): string {
  return LONG_SEQUENCE.test(path) ? path : path.normalize();
}

function decode(path: string): string {
  try {
    return decodeURIComponent(path);
  } catch {
    return path;
  }
}
