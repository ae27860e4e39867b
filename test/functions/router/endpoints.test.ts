import { expect, it } from 'vitest';
import type { Storage, Uploads } from '../../../functions/platform/storage.ts';
import { findEndpoint } from '../../../functions/router/endpoints.ts';
import { headerOf } from './header.ts';

const uploads = {} as Uploads;
const storage = {} as Storage;
const find = (
  method: string,
  path: string,
  stores: Parameters<typeof findEndpoint>[1] = { storage, uploads },
) => findEndpoint({ method, path, query: [], header: headerOf({}) }, stores).endpoint;

it.each(['PUT', 'OPTIONS'])('is a conversion for %s with the name of a file', (method) => {
  expect(find(method, '/api/letter.docx')).toBe('convert');
});

it('is a conversion for PUT with the name of a file that is also that of an endpoint', () => {
  expect(find('PUT', '/api/usage')).toBe('convert');
  expect(find('PUT', '/api/usage', { storage })).toBe('usage');
});

it('is its own for OPTIONS with a known path', () => {
  expect(find('OPTIONS', '/api/usage')).toBe('usage');
});

it('does not exist for the name of a file with another method, or without uploads', () => {
  expect(() => find('GET', '/api/letter.docx')).toThrow('Not found');
  expect(() => find('GET', '/api/{name}')).toThrow('Not found');
  expect(() => find('OPTIONS', '/api/letter.docx', { storage })).toThrow('Not found');
});

it('is a result for DELETE with its URL, where the service itself serves results', () => {
  const elsewhere = { storage: { open: async () => undefined } as unknown as Storage };

  expect(find('DELETE', '/files/a/b.pdf')).toBe('results');
  expect(() => find('POST', '/files/a/b.pdf')).toThrow('Not found');
  expect(() => find('DELETE', '/files/a/b.pdf', elsewhere)).toThrow('Not found');
});
