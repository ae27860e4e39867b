import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename, dirname, extname } from 'node:path';
import { create as createDisposition } from 'content-disposition';
import send from 'send';
import type { DiskStorage } from '../../../../functions/platform/local/disk-storage.ts';
import { ONCE_PREFIX } from '../../../../functions/platform/storage.ts';
import { dispositionOf, FORMATS, readFormat } from '../../../../functions/shared/formats.ts';
import { readSignedUrl } from './signed-url.ts';

/**
 * Policy of a result that is opened as a page. It has its own origin, and can neither run scripts nor load anything.
 */
const SANDBOX = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:";

const REFUSALS = {
  403: '[ERROR] The URL is not valid or has expired.',
  404: '[ERROR] The result has been deleted.',
};

/** Serves a result to a request with its signed URL. */
export async function serveFile(
  request: IncomingMessage,
  response: ServerResponse,
  { url, storage }: { url: URL; storage: DiskStorage },
): Promise<void> {
  const signed = readSignedUrl(url);
  if (!signed) return refuse(response, 403);
  const opened = await storage.open(signed);
  if (opened.status !== 200) return refuse(response, opened.status);

  const { path } = opened;
  const name = basename(signed.objectKey);
  const format = readFormat(extname(name).slice(1));
  const contentType = format ? FORMATS[format].contentType : 'application/zip';
  response.setHeader('Content-Type', contentType);
  response.setHeader('Content-Disposition', createDisposition(name, { type: dispositionOf(contentType) }));
  response.setHeader('X-Content-Type-Options', 'nosniff');
  // Browsers do not show a PDF in a sandbox, and do not give scripts in PDFs access to this origin.
  if (contentType !== FORMATS.pdf.contentType) response.setHeader('Content-Security-Policy', SANDBOX);
  response.setHeader('Access-Control-Allow-Origin', '*');
  if (signed.objectKey.startsWith(ONCE_PREFIX) && request.method !== 'HEAD')
    response.once('finish', () => {
      // A part or a condition does not send all of it. A file that cannot be deleted now is deleted within an hour.
      if (response.statusCode === 200) storage.removeSent(signed.objectKey).catch(() => {});
    });
  send(request, basename(path), { root: dirname(path), dotfiles: 'allow', cacheControl: false })
    .on('error', (error: SendError) => refuseRequest(response, error))
    .pipe(response);
}

interface SendError {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
}

const CONDITIONS: Readonly<Record<number, string>> = {
  412: '[ERROR] The result does not meet the conditions of the request.',
  416: '[ERROR] The range is not satisfiable.',
};

/** Replies to a range or condition that is not satisfied. Any other error occurs after the headers were sent. */
function refuseRequest(response: ServerResponse, { status, headers }: SendError): void {
  if (status === 404) {
    refuse(response, 404);
    return;
  }
  const text = status === undefined ? undefined : CONDITIONS[status];
  if (status === undefined || text === undefined) {
    response.destroy();
    return;
  }
  for (const name of response.getHeaderNames()) response.removeHeader(name);
  response.writeHead(status, { ...headers, 'Content-Type': 'text/plain; charset=utf-8' });
  response.end(text);
}

function refuse(response: ServerResponse, status: keyof typeof REFUSALS): void {
  // Replaces the headers of a cacheable result, which may already be set.
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Cache-Control': 'no-store' };
  response.writeHead(status, headers);
  response.end(REFUSALS[status]);
}
