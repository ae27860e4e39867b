import { LIVE } from '../texts.ts';
import type { ApiCall } from './snippets.ts';

export interface Output {
  readonly url: string;
  readonly name: string;
  readonly contentType: string;
  readonly bytes?: number;
  readonly page?: number;
}

export interface Problem {
  readonly code?: string | undefined;
  readonly detail: string;
  /** Name of the parameter at fault. */
  readonly parameter?: string | undefined;
}

/** How a conversion ended. */
export interface ConversionResult {
  readonly outputs: readonly Output[];
  readonly errors: readonly Problem[];
  readonly requestId?: string | undefined;
  readonly pageCount?: number;
  readonly ignored?: readonly string[];
  readonly warnings?: readonly string[];
  readonly isDemo?: boolean;
}

const failed = (detail: string, requestId?: string | null): ConversionResult => ({
  outputs: [],
  errors: [{ detail }],
  requestId: requestId ?? undefined,
});

/** Everything that a call needs in addition to its URL. */
interface ConversionCall {
  readonly key: string;
  readonly file?: File | undefined;
  /** Maximum bytes of a file that a request may contain. */
  readonly maxBody?: number;
  readonly signal: AbortSignal;
  /** Called with the fraction of the file that has been sent, from 0 to 1. */
  readonly onSent: (share: number) => void;
}

interface Reply {
  readonly status: number;
  readonly text: string;
  header(name: string): string | null;
}

interface Sent extends Pick<ConversionCall, 'signal' | 'onSent'> {
  readonly method: 'GET' | 'PUT' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: File | FormData | undefined;
}

/** Converts. Without a key, the service converts in demo mode and replies with text. */
export async function convert({ url }: ApiCall, call: ConversionCall): Promise<ConversionResult> {
  const { key, file, maxBody = Number.POSITIVE_INFINITY, signal } = call;
  try {
    if (key === '') return await convertDemo(url, signal);
    const headers = { 'X-Api-Key': key, Accept: 'application/json' };
    const sent = file && file.size > maxBody ? await upload(url, file, call) : undefined;
    if (sent && 'errors' in sent) return sent;
    const { status, text, header } = sent
      ? await send(sent.url, { ...call, method: 'GET', headers })
      : await send(url, { ...call, method: file ? 'PUT' : 'GET', headers, body: file });
    const requestId = header('X-Request-Id');
    if (!/json/.test(header('Content-Type') ?? '')) return failed(text.replace(/^\[ERROR\] /, ''), requestId);
    const body = JSON.parse(text);
    if (status < 400) return { errors: [], requestId: requestId ?? undefined, ...body };
    return { outputs: [], errors: body.errors ?? [body], requestId: requestId ?? undefined };
  } catch (thrown) {
    return failed(signal.aborted ? LIVE.cancelled : `${LIVE.noConnection} (${String(thrown)})`);
  }
}

/** Uploads a file with a form of the service, and returns the URL that converts it, or what the service refused. */
async function upload(
  url: string,
  file: File,
  { key, signal, onSent }: ConversionCall,
): Promise<{ readonly url: string } | ConversionResult> {
  const { origin, search } = new URL(url);
  const issue = `${origin}/api/uploads?name=${encodeURIComponent(file.name)}`;
  const issued = await fetch(issue, { method: 'POST', headers: { 'X-Api-Key': key }, signal });
  if (!issued.ok)
    return failed((await issued.text()).replace(/^\[ERROR\] /, ''), issued.headers.get('X-Request-Id'));
  const { infile, url: target, fields } = await issued.json();
  const body = new FormData();
  for (const [name, value] of Object.entries<string>(fields)) body.append(name, value);
  body.append('file', file);
  const { status } = await send(target, { method: 'POST', headers: {}, body, signal, onSent });
  if (status >= 400) return failed(`The upload was refused (${status}).`);
  return { url: `${origin}/api/${search}&infile=${encodeURIComponent(infile)}` };
}

/** Sends a call. Does not use `fetch`, which cannot report how much of a file has been sent. */
function send(url: string, { method, headers, body, signal, onSent }: Sent): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    request.open(method, url);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.onprogress = ({ loaded, total }) => onSent(total > 0 ? loaded / total : 0);
    request.onload = () =>
      resolve({
        status: request.status,
        text: request.responseText,
        header: (name) => request.getResponseHeader(name),
      });
    request.onerror = () => reject(new Error(LIVE.closed));
    request.onabort = () => reject(new Error(LIVE.cancelled));
    signal.addEventListener('abort', () => request.abort());
    request.send(body ?? null);
  });
}

async function convertDemo(url: string, signal: AbortSignal): Promise<ConversionResult> {
  const response = await fetch(url, { signal });
  const text = await response.text();
  const requestId = response.headers.get('X-Request-Id');
  const result = /^Demo result: (\S+)$/m.exec(text)?.[1];
  if (result === undefined) return failed(LIVE.demoFailed, requestId);
  const name = decodeURIComponent(new URL(result).pathname.split('/').at(-1) ?? '');
  const head = await fetch(result, { method: 'GET', signal, cache: 'default' });
  const contentType = head.headers.get('Content-Type') ?? '';
  const { size } = await head.blob();
  return {
    outputs: [{ url: result, name, contentType, bytes: size }],
    errors: [],
    requestId: requestId ?? undefined,
    isDemo: true,
  };
}

/** Returns every mistake in a call, without converting. */
export async function check(url: string, signal: AbortSignal): Promise<readonly Problem[]> {
  const { search } = new URL(url);
  const response = await fetch(new URL(`check${search}`, import.meta.url), { signal });
  return response.ok ? ((await response.json()) as { errors: Problem[] }).errors : [];
}
