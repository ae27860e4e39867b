import type { Storage } from '../platform/storage.ts';
import type { Uploads } from '../platform/uploads.ts';
import { ConversionError } from '../shared/errors.ts';
import { CDN_LOOP } from '../shared/source/request.ts';
import { FILES_PATH, type HttpRequest, JSON_PATH } from './http.ts';

export interface Route {
  readonly endpoint: string;
  readonly methods: readonly Method[];
  /** Methods that need a deployment with uploads. */
  readonly uploadMethods?: readonly Method[];
  /** Whether it needs no key, so that everyone may call it. */
  readonly isPublic?: true;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'DELETE';

const NAMED = '/api/{name}';

/**
 * The paths of the API. The router, the OpenAPI description and the gateway on AWS read this list. `curl -T` appends
 * the name of the file to the path.
 */
export const ROUTES = {
  '/api': { endpoint: 'convert', methods: ['GET'], uploadMethods: ['POST', 'PUT'] },
  [JSON_PATH]: { endpoint: 'convert', methods: ['GET'], uploadMethods: ['POST', 'PUT'] },
  '/api/usage': { endpoint: 'usage', methods: ['GET'] },
  '/api/uploads': { endpoint: 'uploads', methods: [], uploadMethods: ['POST'] },
  '/api/results': { endpoint: 'results', methods: ['DELETE'] },
  '/api/health': { endpoint: 'health', methods: ['GET'], isPublic: true },
  '/api/version': { endpoint: 'version', methods: ['GET'], isPublic: true },
  '/api/openapi.json': { endpoint: 'openapi', methods: ['GET'], isPublic: true },
  [NAMED]: { endpoint: 'convert', methods: [], uploadMethods: ['PUT'] },
} as const satisfies Readonly<Record<string, Route>>;

export type Path = keyof typeof ROUTES;
export type Endpoint = (typeof ROUTES)[Path]['endpoint'];

/** Returns the methods of a path. */
export function methodsOf(path: Path, hasUploads: boolean): readonly Method[] {
  const { methods, uploadMethods = [] }: Route = ROUTES[path];
  return hasUploads ? [...methods, ...uploadMethods] : methods;
}

/** Returns the endpoint of a path, and its methods. @throws ConversionError `NOT_FOUND`, `BLOCKED_ADDRESS` */
export function findEndpoint(
  http: HttpRequest,
  { storage, uploads }: { readonly storage: Storage; readonly uploads?: Uploads | undefined },
): { endpoint: Endpoint; methods: readonly string[] } {
  const hasUploads = uploads !== undefined;
  const path = pathOf(http, { hasUploads, servesFiles: !storage.open });
  const methods = path ? methodsOf(path, hasUploads) : [];
  if (!path || methods.length === 0) throw new ConversionError('NOT_FOUND');
  if (http.header('cdn-loop')?.includes(CDN_LOOP))
    throw new ConversionError('BLOCKED_ADDRESS', 'The service does not convert its own responses.');
  return { endpoint: ROUTES[path].endpoint, methods };
}

function pathOf(
  { method, path }: HttpRequest,
  { hasUploads, servesFiles }: { readonly hasUploads: boolean; readonly servesFiles: boolean },
): Path | undefined {
  const isNamed = hasUploads && /^\/api\/[^/]+$/.test(path);
  // A file may have the name of an endpoint.
  if (isNamed && method === 'PUT') return NAMED;
  if (path === '/api/') return '/api';
  if (Object.hasOwn(ROUTES, path) && path !== NAMED) return path as Path;
  // A browser asks with OPTIONS whether it may send the file.
  if (isNamed && method === 'OPTIONS') return NAMED;
  return method === 'DELETE' && servesFiles && path.startsWith(FILES_PATH) ? '/api/results' : undefined;
}
