import { randomBytes } from 'node:crypto';
import { linkSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { basename, dirname, extname } from 'node:path';
import { create as createDisposition } from 'content-disposition';
import send from 'send';
import type { DiskStorage } from '../../../../functions/platform/local/disk-storage.ts';
import { ONCE_PREFIX } from '../../../../functions/platform/storage.ts';
import { FILES_PATH } from '../../../../functions/router/http.ts';
import { dispositionOf, FORMATS, readFormat } from '../../../../functions/shared/formats.ts';

interface SignedUrl {
  readonly objectKey: string;
  readonly expires: string;
  readonly signature: string;
}

/** Reads the signed URL of a result. Returns `undefined` for any other URL. */
export function readSignedUrl(url: URL): SignedUrl | undefined {
  const expires = url.searchParams.get('expires');
  const signature = url.searchParams.get('signature');
  if (!url.pathname.startsWith(FILES_PATH) || expires === null || signature === null) return undefined;
  try {
    return { objectKey: decodeURIComponent(url.pathname.slice(FILES_PATH.length)), expires, signature };
  } catch {
    return undefined;
  }
}

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

const BYTES = 32;

/** Reads the secret that signs URLs. It is stored next to the results, so that URLs stay valid after a restart. */
export function readSecret(file: string): Buffer {
  const stored = readWhole(file);
  if (stored) return stored;
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  // A full disk can leave an incomplete file, whose content could be guessed to sign URLs.
  rmSync(file, { force: true });
  const part = `${file}.${process.pid}`;
  try {
    writeFileSync(part, randomBytes(BYTES), { mode: 0o600 });
    // Unlike renaming, linking does not replace the secret of another server that starts at the same moment.
    linkSync(part, file);
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'EEXIST') throw thrown;
  } finally {
    rmSync(part, { force: true });
  }
  return readFileSync(file);
}

function readWhole(file: string): Buffer | undefined {
  try {
    const secret = readFileSync(file);
    return secret.length === BYTES ? secret : undefined;
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw thrown;
  }
}
