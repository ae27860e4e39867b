import type { IncomingHttpHeaders } from 'node:http';
import { unescape as unescapePercent } from 'node:querystring';

/** Answers the file name a response gives itself, else the last segment of its address; may be empty. */
export function sourceName(headers: IncomingHttpHeaders, url: URL): string {
  const given = dispositionName(headers['content-disposition'] ?? '');
  return cleanName(given ?? unescapePercent(url.pathname.split('/').at(-1) ?? ''));
}

/** Answers the media type of a response: lower case, without parameters; may be empty. */
export function sourceContentType(headers: IncomingHttpHeaders): string {
  return (headers['content-type'] ?? '').split(';')[0]!.trim().toLowerCase().slice(0, 127);
}

/** Reads `filename*` (RFC 8187) before `filename`; headers are bytes, and browsers take UTF-8 in them. */
function dispositionName(disposition: string): string | undefined {
  const extended = /;\s*filename\*\s*=\s*utf-8'[^']*'([^;\s]+)/i.exec(disposition);
  if (extended) return unescapePercent(extended[1]!);

  const plain = /;\s*filename\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^;\s]+))/i.exec(disposition);
  const raw = plain?.[1]?.replace(/\\(.)/g, '$1') ?? plain?.[2];
  return raw === undefined ? undefined : Buffer.from(raw, 'latin1').toString('utf8');
}

/** Keeps the last path segment and no control characters, whatever the server thought a name is. */
function cleanName(name: string): string {
  const last = name.split(/[/\\]/).at(-1)!;
  return last
    .replace(/\p{Cc}/gu, '')
    .trim()
    .slice(-255);
}
