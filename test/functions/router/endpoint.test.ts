import { expect, it } from 'vitest';
import type { Uploads } from '../../../functions/platform/uploads.ts';
import { findEndpoint } from '../../../functions/router/endpoint.ts';
import { headerOf } from './header.ts';

const uploads = {} as Uploads;
const find = (method: string, path: string, stores = { uploads }) =>
  findEndpoint({ method, path, query: [], header: headerOf({}) }, stores).endpoint;

it.each(['PUT', 'OPTIONS'])('is a conversion for %s with the name of a file', (method) => {
  expect(find(method, '/api/letter.docx')).toBe('convert');
});

it('is its own for OPTIONS with a known path', () => {
  expect(find('OPTIONS', '/api/usage')).toBe('usage');
});

it('does not exist for the name of a file with another method, or without uploads', () => {
  expect(() => find('GET', '/api/letter.docx')).toThrow('Not found');
  expect(() => find('OPTIONS', '/api/letter.docx', {} as never)).toThrow('Not found');
});
