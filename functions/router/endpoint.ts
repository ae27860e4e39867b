import type { Storage } from '../platform/storage.ts';
import type { Uploads } from '../platform/uploads.ts';
import { ConversionError } from '../shared/errors.ts';
import { CDN_LOOP } from '../shared/source/request.ts';
import { type HttpRequest, JSON_PATH } from './http.ts';
import { FILES_PATH } from './results.ts';

export type Endpoint = 'convert' | 'uploads' | 'results' | 'usage' | 'health' | 'version' | 'openapi';

const ENDPOINTS: Readonly<Record<string, Endpoint>> = {
  '/api': 'convert',
  '/api/': 'convert',
  [JSON_PATH]: 'convert',
  '/api/uploads': 'uploads',
  '/api/results': 'results',
  '/api/usage': 'usage',
  '/api/health': 'health',
  '/api/version': 'version',
  '/api/openapi.json': 'openapi',
};

/** Returns the endpoint of a path, and its methods. @throws ConversionError `NOT_FOUND`, `BLOCKED_ADDRESS` */
export function findEndpoint(
  { method, path, header }: HttpRequest,
  { storage, uploads }: { readonly storage: Storage; readonly uploads?: Uploads | undefined },
): { endpoint: Endpoint; methods: readonly string[] } {
  const known = Object.hasOwn(ENDPOINTS, path) ? ENDPOINTS[path] : undefined;
  // `curl -T` appends the name of the file to the path. A browser asks with OPTIONS whether it may do the same.
  const isPut = method === 'PUT' || (method === 'OPTIONS' && !known);
  const isNamed = isPut && uploads && /^\/api\/[^/]+$/.test(path);
  const isResult = method === 'DELETE' && !storage.open && path.startsWith(FILES_PATH);
  const endpoint = isNamed ? 'convert' : isResult ? 'results' : known;
  if (!endpoint || (endpoint === 'uploads' && !uploads)) {
    throw new ConversionError('NOT_FOUND', 'Not found. Send conversion requests to /api/.');
  }
  if (header('cdn-loop')?.includes(CDN_LOOP))
    throw new ConversionError('BLOCKED_ADDRESS', 'The service does not convert its own responses.');
  if (endpoint === 'uploads') return { endpoint, methods: ['POST'] };
  if (endpoint === 'results') return { endpoint, methods: ['DELETE'] };
  return { endpoint, methods: endpoint === 'convert' && uploads ? ['GET', 'POST', 'PUT'] : ['GET'] };
}
