import { LIVE } from '../texts.ts';
import type { ApiCall } from './snippets.ts';
import { encodePairs } from './state.ts';

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
  /** Seconds after which a busy service may be asked again. */
  readonly retryAfter?: number;
}

const failed = (detail: string, requestId?: string | null): ConversionResult => ({
  outputs: [],
  errors: [{ detail }],
  requestId: requestId ?? undefined,
});

/** Everything that a call needs in addition to its URL. */
interface ConversionCall {
  readonly key: string;
  /** Whether somebody is signed in, who needs no key. */
  readonly isMember?: boolean;
  /** Files, each with the parameter that it is the value of. */
  readonly files?: ReadonlyArray<readonly [parameter: string, file: File]>;
  /** Maximum bytes of files that a request may contain. */
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
  readonly method: 'GET' | 'POST';
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: FormData | undefined;
}

/** Where members convert without a key, relative to this script. */
const MEMBERS = 'convert';

/** Converts. Without a key and a session, the service converts in demo mode and replies with text. */
export async function convert({ url }: ApiCall, call: ConversionCall): Promise<ConversionResult> {
  const { key, isMember = false, files = [], maxBody = Number.POSITIVE_INFINITY, signal } = call;
  try {
    if (key === '' && !isMember) return await convertDemo(url, signal);
    const { origin, search } = new URL(url);
    const endpoint = key === '' ? new URL(MEMBERS, import.meta.url).href : `${origin}/api/`;
    const headers = { ...(key !== '' && { 'X-Api-Key': key }), Accept: 'application/json' };
    const isLarge = files.reduce((sum, [, { size }]) => sum + size, 0) > maxBody;
    let added = '';
    for (const [parameter, file] of isLarge ? files : []) {
      const sent = await upload(endpoint, file, { ...call, headers });
      if ('errors' in sent) return sent;
      added += `&${encodePairs([[parameter, sent.infile]])}`;
    }
    const body = isLarge || files.length === 0 ? undefined : formOf(files);
    // Only a form may use the session.
    const method = body || key === '' ? 'POST' : 'GET';
    const target = `${endpoint}${search}${added}`;
    const { status, text, header } = await send(target, { ...call, method, headers, body });
    const requestId = header('X-Request-Id');
    if (!/json/.test(header('Content-Type') ?? '')) return failed(text.replace(/^\[ERROR\] /, ''), requestId);
    const reply = JSON.parse(text);
    if (status < 400) return { errors: [], requestId: requestId ?? undefined, ...reply };
    const retryAfter = Number(header('Retry-After') ?? Number.NaN);
    return {
      outputs: [],
      errors: reply.errors ?? [reply],
      requestId: requestId ?? undefined,
      ...(Number.isFinite(retryAfter) && { retryAfter }),
    };
  } catch (thrown) {
    return failed(signal.aborted ? LIVE.cancelled : `${LIVE.noConnection} (${String(thrown)})`);
  }
}

function formOf(files: NonNullable<ConversionCall['files']>): FormData {
  const form = new FormData();
  for (const [parameter, file] of files) form.append(parameter, file);
  return form;
}

/** Uploads a file with a form of the service, and returns its `infile`, or what the service refused. */
async function upload(
  endpoint: string,
  file: File,
  { headers, signal, onSent }: ConversionCall & { headers: Readonly<Record<string, string>> },
): Promise<{ readonly infile: string } | ConversionResult> {
  const issue = `${endpoint.replace(/\/?$/, '/uploads')}?name=${encodeURIComponent(file.name)}`;
  const issued = await fetch(issue, { method: 'POST', headers, signal });
  if (!issued.ok) {
    const { errors, detail } = await issued.json();
    return { ...failed(detail, issued.headers.get('X-Request-Id')), ...(errors && { errors }) };
  }
  const { infile, url: target, fields } = await issued.json();
  const body = new FormData();
  for (const [name, value] of Object.entries<string>(fields)) body.append(name, value);
  body.append('file', file);
  const { status } = await send(target, { method: 'POST', headers: {}, body, signal, onSent });
  return status >= 400 ? failed(`The upload was refused (${status}).`) : { infile };
}

/** Who uses the page. */
export interface Visitor {
  /** Whether anybody can sign in to this service. */
  readonly canSignIn: boolean;
  readonly email?: string;
}

/** Asks the service who is signed in. */
export async function readVisitor(): Promise<Visitor> {
  const response = await fetch(new URL('session', import.meta.url));
  return response.ok ? response.json() : { canSignIn: false };
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
  if (result === undefined) {
    const code = response.headers.get('X-Demo-Error') ?? undefined;
    return {
      ...failed(LIVE.demoFailed, requestId),
      errors: [{ code, detail: LIVE.demoFailed }],
      isDemo: true,
    };
  }
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
