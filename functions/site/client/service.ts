import { LIVE } from '../texts.ts';
import type { Call } from './snippets.ts';

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
}

/** How a conversion ended. */
export interface Ended {
  readonly outputs: readonly Output[];
  readonly errors: readonly Problem[];
  readonly requestId?: string | undefined;
  readonly pageCount?: number;
  readonly ignored?: readonly string[];
  readonly warnings?: readonly string[];
  readonly isDemo?: boolean;
}

const failed = (detail: string, requestId?: string | null): Ended => ({
  outputs: [],
  errors: [{ detail }],
  requestId: requestId ?? undefined,
});

interface Conversion {
  readonly key: string;
  readonly file?: File | undefined;
  /** Bytes of a file that a request may contain. */
  readonly maxBody?: number;
  readonly signal: AbortSignal;
}

/** Uploads a file with a form of the service, and returns the URL that converts it. */
async function uploaded(
  url: string,
  file: File,
  { key, signal }: Pick<Conversion, 'key' | 'signal'>,
): Promise<URL> {
  const { origin, search } = new URL(url);
  const issue = `${origin}/api/uploads?name=${encodeURIComponent(file.name)}`;
  const issued = await fetch(issue, { method: 'POST', headers: { 'X-Api-Key': key }, signal });
  if (!issued.ok) throw new Error(await issued.text());
  const { infile, url: target, fields } = await issued.json();
  const form = new FormData();
  for (const [name, value] of Object.entries<string>(fields)) form.append(name, value);
  form.append('file', file);
  const { ok, status } = await fetch(target, { method: 'POST', body: form, signal });
  if (!ok) throw new Error(`${status}`);
  return new URL(`/api/${search}&infile=${encodeURIComponent(infile)}`, origin);
}

/** Converts. Without a key, the service does so in demo mode and replies with text. */
export async function convert(
  { url, file: _ }: Call,
  { key, file, maxBody = Number.POSITIVE_INFINITY, signal }: Conversion,
): Promise<Ended> {
  try {
    if (key === '') return await convertDemo(url, signal);
    const isLarge = file !== undefined && file.size > maxBody;
    const response = await fetch(isLarge ? await uploaded(url, file, { key, signal }) : url, {
      headers: { 'X-Api-Key': key, Accept: 'application/json' },
      ...(file && !isLarge && { method: 'PUT', body: file }),
      signal,
    });
    const requestId = response.headers.get('X-Request-Id');
    if (!/json/.test(response.headers.get('Content-Type') ?? ''))
      return failed((await response.text()).replace(/^\[ERROR\] /, ''), requestId);
    const body = await response.json();
    if (response.ok) return { errors: [], requestId: requestId ?? undefined, ...body };
    return { outputs: [], errors: body.errors ?? [body], requestId: requestId ?? undefined };
  } catch (thrown) {
    return failed(signal.aborted ? LIVE.cancelled : `${LIVE.noConnection} (${String(thrown)})`);
  }
}

async function convertDemo(url: string, signal: AbortSignal): Promise<Ended> {
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
