import type { KeyRecord } from '../platform/keys/keys.ts';
import { isOwner, type Storage } from '../platform/storage.ts';
import { ConversionError } from '../shared/errors.ts';
import { FILES_PATH, type HttpRequest } from './http.ts';
import type { HttpReply } from './reply.ts';

/** The end of the path of a result's URL, which is its object key. */
const OBJECT_KEY = /\/((?:once\/)?([0-9a-f]{32}\/)[^/]+)$/;

/**
 * Deletes the result that the request names by its URL, as the path or in `url`. A result that has already been deleted is
 * not an error.
 * @throws ConversionError `MISSING_PARAMETER`, `NOT_FOUND` for a result of another account
 */
export async function deleteResult(
  { path, query }: HttpRequest,
  { account }: KeyRecord,
  { storage }: { readonly storage: Storage },
): Promise<HttpReply> {
  const url = path.startsWith(FILES_PATH) ? path : query.find(({ name }) => name === 'url')?.value;
  if (!url) throw new ConversionError('MISSING_PARAMETER', "Parameter 'url' is missing.");
  const [, objectKey = '', prefix = ''] = OBJECT_KEY.exec(urlPathOf(url)) ?? [];
  if (!isOwner(account, prefix))
    throw new ConversionError('NOT_FOUND', 'This is not the URL of a result of this account.');
  await storage.remove({ account, objectKey });
  return { status: 204, headers: { 'Cache-Control': 'no-store' }, body: '' };
}

function urlPathOf(url: string): string {
  try {
    return decodeURIComponent(new URL(url, 'http://localhost').pathname);
  } catch {
    return '';
  }
}
