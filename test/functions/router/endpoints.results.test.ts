import { expect, it } from 'vitest';
import { createPrefix } from '../../../functions/platform/storage.ts';
import { deleteResult } from '../../../functions/router/endpoints.ts';
import { KEPT_RESULTS } from '../../helpers/kept-results.ts';
import { recordOf, unlimited } from '../accounts.ts';
import { headerOf } from './header.ts';

const own = createPrefix('owner');

/** Returns the object key that a deletion by the account `owner` removes. */
async function deletedBy(request: { path?: string; url?: string }): Promise<string | undefined> {
  let removed: string | undefined;
  const storage = {
    ...KEPT_RESULTS,
    grant: async () => ({}),
    url: async (objectKey: string) => objectKey,
    remove: async ({ objectKey }: { objectKey: string }) => {
      removed = objectKey;
    },
  };
  const query = request.url === undefined ? [] : [{ name: 'url', value: request.url }];
  const http = { method: 'DELETE', path: request.path ?? '/api/results', query, header: headerOf({}) };
  await deleteResult(http, recordOf('owner'), { ...unlimited, storage });
  return removed;
}

it.each([
  ['the path', { path: `/files/${own}%C3%9C%20b.png` }, `${own}Ü b.png`],
  ['the URL of this server', { url: `http://localhost:3000/files/${own}b.png?expires=1` }, `${own}b.png`],
  ['the URL of a bucket', { url: `https://b.s3.amazonaws.com/${own}b.png?X-Amz-Date=1` }, `${own}b.png`],
  ['a result that is sent once', { path: `/files/once/${own}b.png` }, `once/${own}b.png`],
])('is deleted by %s', async (_, request, objectKey) => {
  expect(await deletedBy(request)).toBe(objectKey);
});

it.each([
  { url: `https://b.example/${createPrefix('another')}b.png` },
  { url: `https://b.example/uploads/${own}c/b.png` },
  { url: `https://b.example/${own}../b.png` },
  { url: `https://b.example/${own}a%2Fb.png` },
  { url: `https://b.example/${own}` },
  { path: '/files/%' },
  { url: 'https://[' },
])('is not deleted by %j', async (request) => {
  await expect(deletedBy(request)).rejects.toMatchObject({ code: 'NOT_FOUND' });
});
