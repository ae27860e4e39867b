import { FRONT, type Language } from '../front-texts.ts';

/** The texts in the language of the page. */
export const TEXT = FRONT[globalThis.document?.documentElement.lang as Language] ?? FRONT.en;

export interface Output {
  readonly url: string;
  readonly name: string;
  readonly contentType: string;
  readonly bytes?: number;
  readonly page?: number;
  /** When the URL stops to work, as an ISO 8601 date. */
  readonly expires?: string;
}

export interface Problem {
  readonly code?: string | undefined;
  readonly detail: string;
  /** Name of the parameter at fault. */
  readonly parameter?: string | undefined;
  /** Position of the file at fault among those of the parameter, from 0. */
  readonly index?: number;
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
  /** Files and URLs in their order, each with the parameter that it is the value of. */
  readonly sources?: ReadonlyArray<readonly [parameter: string, file: File | string]>;
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
  const { key, isMember = false, sources = [], maxBody = Number.POSITIVE_INFINITY, signal } = call;
  const { origin, search } = new URL(url);
  const endpoint = key === '' ? new URL(MEMBERS, import.meta.url).href : `${origin}/api/`;
  const headers = { ...(key !== '' && { 'X-Api-Key': key }), Accept: 'application/json' };
  const uploaded: string[] = [];
  try {
    const files = sources.flatMap(([, source]) => (source instanceof File ? source : []));
    // A form keeps URLs in their order between files.
    const isForm = files.length > 0 && files.reduce((sum, { size }) => sum + size, 0) <= maxBody;
    let added = '';
    for (const [parameter, file] of isForm ? [] : sources) {
      const sent = await upload(endpoint, file, { ...call, headers }, uploaded);
      if ('errors' in sent) return sent;
      added += `&${encodePairs([[parameter, sent.infile]])}`;
    }
    if (key === '' && !isMember) return await convertDemo(`${url}${added}`, signal);
    const body = isForm ? formOf(sources) : undefined;
    // Only a form may use the session.
    const method = body || key === '' ? 'POST' : 'GET';
    const target = `${endpoint}${search}${added}`;
    const { status, text, header } = await send(target, { ...call, method, headers, body });
    const requestId = header('X-Request-Id');
    if (!/json/.test(header('Content-Type') ?? '')) return failed(sentenceOf(text, status), requestId);
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
    return failed(signal.aborted ? TEXT.errors.cancelled : `${TEXT.errors.connection} (${String(thrown)})`);
  } finally {
    // An upload that cannot be deleted now is deleted when it expires.
    for (const infile of uploaded)
      void fetch(`${uploadsOf(endpoint)}?${encodePairs([['infile', infile]])}`, {
        method: 'DELETE',
        headers,
        keepalive: true,
      }).catch(() => {});
  }
}

const uploadsOf = (endpoint: string) => endpoint.replace(/\/?$/, '/uploads');

/** Returns the sentence for a person in a reply that is not JSON. Only this service begins one like this. */
function sentenceOf(text: string, status: number): string {
  if (text.startsWith('[ERROR] ')) return text.slice('[ERROR] '.length);
  return status === 413 ? TEXT.errors.codes.SOURCE_TOO_LARGE! : TEXT.errors.foreign(status);
}

function formOf(sources: NonNullable<ConversionCall['sources']>): FormData {
  const form = new FormData();
  for (const [parameter, file] of sources) form.append(parameter, file);
  return form;
}

/** Uploads a file with a form of the service, and returns its `infile`, or what the service refused. */
async function upload(
  endpoint: string,
  file: File | string,
  { headers, signal, onSent }: ConversionCall & { headers: Readonly<Record<string, string>> },
  uploaded: string[],
): Promise<{ readonly infile: string } | ConversionResult> {
  if (typeof file === 'string') return { infile: file };
  const issue = `${uploadsOf(endpoint)}?name=${encodeURIComponent(file.name)}`;
  const issued = await fetch(issue, { method: 'POST', headers, signal });
  if (!issued.ok) {
    const text = await issued.text();
    if (!/json/.test(issued.headers.get('Content-Type') ?? ''))
      return failed(sentenceOf(text, issued.status));
    const { errors, detail } = JSON.parse(text);
    return { ...failed(detail, issued.headers.get('X-Request-Id')), ...(errors && { errors }) };
  }
  const { infile, url: target, fields } = await issued.json();
  uploaded.push(infile);
  const body = new FormData();
  for (const [name, value] of Object.entries<string>(fields)) body.append(name, value);
  body.append('file', file);
  const { status, text } = await send(target, { method: 'POST', headers: {}, body, signal, onSent });
  if (status < 400) return { infile };
  // A bucket explains a refusal in XML.
  return failed(sentenceOf(text, status));
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
    request.onerror = request.onabort = () => reject(new Error('The connection was closed.'));
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
      ...failed('', requestId),
      errors: [{ code, detail: code === 'RATE_LIMITED' ? TEXT.errors.demoLimit : TEXT.errors.demo }],
      isDemo: true,
    };
  }
  const name = decodeURIComponent(new URL(result).pathname.split('/').at(-1) ?? '');
  const head = await fetch(result, { signal });
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

/** The call that a person composes: everything except the key and a file. */
export interface State {
  app: string;
  infile: string;
  outfile: string;
  /** Values by option name, in the order in which they were set. */
  options: Map<string, readonly string[]>;
}

const FIELDS = ['app', 'infile', 'outfile'] as const;

/** Reads the hash of a URL. `names` are those of all options. */
export function readHash(hash: string, defaultTool: string, names: readonly string[]): State {
  const pairs = [...new URLSearchParams(hash.replace(/^#/, ''))];
  const value = (wanted: string) => pairs.find(([name]) => name === wanted)?.[1] ?? '';
  const options = new Map<string, readonly string[]>();
  for (const [name, text] of pairs) {
    // Restores only options, because a link must not set a key.
    if (!/^[-+]/.test(name) && !names.includes(name)) continue;
    options.set(name, [...(options.get(name) ?? []), text]);
  }
  return {
    app: value('app') || defaultTool,
    infile: value('infile'),
    outfile: value('outfile'),
    options,
  };
}

/** Returns the hash that restores a state. */
export function hashOf(state: State): string {
  const fields = FIELDS.map((name) => [name, state[name]] as const).filter(([, value]) => value !== '');
  return `#${encodePairs([...fields, ...optionPairs(state)])}`;
}

/** Returns the options as pairs of a query. */
function optionPairs({ options }: State): ReadonlyArray<readonly [string, string]> {
  return [...options].flatMap(([name, values]) => values.map((value) => [name, value] as const));
}

/** Encodes a query so that it is safe between quotes in every language: without quotes, `!`, `$` and backslashes. */
export function encodePairs(pairs: ReadonlyArray<readonly [string, string]>): string {
  return pairs
    .map(([name, value]) => (value === '' ? encode(name) : `${encode(name)}=${encode(value)}`))
    .join('&');
}

/** Percent-encodes a name or a value. */
function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /['!()*]/g,
    (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

export type Way = 'URL' | 'curl' | 'JavaScript' | 'Python' | 'PHP';

/** A call as it is sent: a URL to fetch, or a file to PUT to a URL. */
export interface ApiCall {
  readonly url: string;
  /** Name of the file that is sent. */
  readonly file?: string | undefined;
}

/**
 * Returns the call for a state, without the key. If `isOrdered`, the order of the options matters. It is lost in a
 * query that passes through API Gateway, so the options are then sent in `_args`.
 */
export function callOf(state: State, origin: string, { file, isOrdered = false }: CallOptions = {}): ApiCall {
  const { app, infile, outfile } = state;
  const source = file === undefined ? [['infile', infile] as const] : [];
  const pairs = optionPairs(state);
  const options = isOrdered && pairs.length > 1 ? [['_args', argsOf(pairs)] as const] : pairs;
  const query = encodePairs([['app', app], ...source, ['outfile', outfile], ...options]);
  if (file === undefined) return { url: `${origin}/api/?${query}` };
  return { url: `${origin}/api/${encode(file)}?${query}`, file };
}

interface CallOptions {
  readonly file?: string | undefined;
  readonly isOrdered?: boolean;
}

/** Writes options as on a command line. */
export function argsOf(pairs: ReturnType<typeof optionPairs>): string {
  const words = pairs.map(([name, value]) => (value === '' ? name : `${name}=${value}`));
  return words.map((word) => (/[\s'"\\]/.test(word) ? shell(word) : word)).join(' ');
}

/** Returns the text of a call in a language. Each program prints the URL of the result. */
export function snippetOf(way: Way, { url, file }: ApiCall): string {
  return SNIPPETS[way](url, file);
}

const shell = (text: string) => `'${text.replaceAll("'", "'\\''")}'`;
const php = (text: string) => `'${text.replace(/[\\']/g, '\\$&')}'`;
const json = (text: string) => JSON.stringify(text);

const SNIPPETS: Readonly<Record<Way, (url: string, file?: string) => string>> = {
  URL: (url, file) => (file === undefined ? url : `PUT ${url}`),
  curl: (url, file) =>
    [
      'curl -g -H "X-Api-Key: $API_KEY"',
      ...(file === undefined ? [] : [`-T ${shell(`./${file}`)}`]),
      shell(url),
    ].join(' \\\n  '),
  JavaScript: (
    url,
    file,
  ) => `import { env } from 'node:process';${file === undefined ? '' : "\nimport { readFile } from 'node:fs/promises';"}

const response = await fetch(
  '${url}',
  {${file === undefined ? '' : `\n    method: 'PUT',\n    body: await readFile(${json(file)}),`}
    headers: { 'X-Api-Key': env.API_KEY, Accept: 'application/json' },
  },
);
const { outputs, detail } = await response.json();
if (!response.ok) throw new Error(detail);
console.log(outputs[0].url);`,
  Python: (url, file) => `import json, os, urllib.request

request = urllib.request.Request(
    '${url}',${file === undefined ? '' : `\n    data=open(${json(file)}, 'rb').read(), method='PUT',`}
    headers={'X-Api-Key': os.environ['API_KEY'], 'Accept': 'application/json'})
with urllib.request.urlopen(request) as response:
    print(json.load(response)['outputs'][0]['url'])`,
  PHP: (url, file) => `<?php
$response = file_get_contents(
    '${url}',
    false, stream_context_create(['http' => [${file === undefined ? '' : `\n        'method' => 'PUT', 'content' => file_get_contents(${php(file)}),`}
        'header' => ['X-Api-Key: ' . getenv('API_KEY'), 'Accept: application/json'],
    ]]));
echo json_decode($response)->outputs[0]->url, "\\n";`,
};
