import { open } from 'node:fs/promises';
import type { IncomingHttpHeaders } from 'node:http';
import { unescape as unescapePercent } from 'node:querystring';
import { parse as parseDisposition } from 'content-disposition';
import { HEAD_BYTES } from './file-kind.ts';

/** Returns the bytes of a file that decide about its kind, one character for each. */
export async function readHead(path: string): Promise<string> {
  await using file = await open(path);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0);
  return buffer.toString('latin1', 0, bytesRead);
}

/**
 * Returns the file name of a response, from its content disposition or else the last segment of its URL. May be
 * empty.
 */
export function sourceName(headers: IncomingHttpHeaders, url: URL): string {
  const name = dispositionName(headers['content-disposition']);
  return cleanName(name ?? unescapePercent(url.pathname.split('/').at(-1) ?? ''));
}

/** Returns the file name in a content disposition. */
export function dispositionName(header = ''): string | undefined {
  // Headers are bytes, and browsers read UTF-8 in them.
  return parseDisposition(Buffer.from(header, 'latin1').toString('utf8')).parameters.filename;
}

/** Returns the media type in a content type, in lower case. May be empty. */
export function mediaTypeIn(header = ''): string {
  return header.split(';')[0]!.trim().toLowerCase().slice(0, 127);
}

/** Returns the last path segment, without control characters. */
function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1)!;
  return last
    .replace(/\p{Cc}/gu, '')
    .trim()
    .slice(-255);
}
