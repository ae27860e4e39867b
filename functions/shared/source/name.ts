import type { IncomingHttpHeaders } from 'node:http';
import { unescape as unescapePercent } from 'node:querystring';
import { parse as parseDisposition } from 'content-disposition';

/**
 * Returns the file name of a response, from its content disposition or else the last segment of its URL. May be
 * empty.
 */
export function sourceName(headers: IncomingHttpHeaders, url: URL): string {
  // Headers are bytes, and browsers read UTF-8 in them.
  const disposition = Buffer.from(headers['content-disposition'] ?? '', 'latin1').toString('utf8');
  const { filename } = parseDisposition(disposition).parameters;
  return cleanName(filename ?? unescapePercent(url.pathname.split('/').at(-1) ?? ''));
}

/** Returns the media type of a response in lower case, without parameters. May be empty. */
export function sourceContentType(headers: IncomingHttpHeaders): string {
  return (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase().slice(0, 127);
}

/** Returns the last path segment, without control characters. */
function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1)!;
  return last
    .replace(/\p{Cc}/gu, '')
    .trim()
    .slice(-255);
}
