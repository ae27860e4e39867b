import { createWriteStream } from 'node:fs';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Service } from './converter.ts';

/** A service behind a URL. */
export function remoteService(url: string, key: string | undefined): Service {
  const base = `${url.replace(/\/+$/, '').replace(/\/api$/, '')}/api/`;
  return {
    async send({ query, headers, body }, signal) {
      const target = `${base}?${new URLSearchParams(query.map(({ name, value }): [string, string] => [name, value]))}`;
      const authorization: Record<string, string> =
        key === undefined ? {} : { Authorization: `Bearer ${key}` };
      const response = await fetch(target, {
        method: body ? 'POST' : 'GET',
        headers: { ...headers, ...authorization },
        ...(body && { body }),
        signal,
      }).catch((thrown: Error) => {
        if (signal.aborted) throw thrown;
        const { cause = thrown } = thrown;
        throw new Error(`The service at ${base} did not respond: ${(cause as Error).message}`, { cause });
      });
      const retryAfter = Number(response.headers.get('retry-after') ?? Number.NaN);
      return {
        status: response.status,
        body: await response.text(),
        ...(Number.isFinite(retryAfter) && { retryAfter }),
      };
    },
    async save(result, path, signal) {
      const response = await fetch(result, { signal });
      if (!response.ok || !response.body) throw new Error(`The result has status ${response.status}.`);
      await pipeline(Readable.fromWeb(response.body), createWriteStream(path));
    },
    async close() {},
  };
}
