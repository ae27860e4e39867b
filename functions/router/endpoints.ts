import type { Health, MachineStatus } from '../platform/invoke.ts';
import type { KeyRecord } from '../platform/keys.ts';
import { type Limiter, limitHeaders } from '../platform/limits.ts';
import { isOwner, type Storage, type Uploads } from '../platform/storage.ts';
import type { Usage } from '../platform/usage.ts';
import { type PriceRows, usageReport } from '../platform/usage-report.ts';
import { ConversionError } from '../shared/errors.ts';
import type { RateLimits } from '../shared/settings/service.ts';
import { CDN_LOOP } from '../shared/source/request.ts';
import { monthOf } from '../shared/time.ts';
import { limitsOf } from './admission/admit.ts';
import { FILES_PATH, type HttpRequest, JOBS_PATH, JSON_PATH } from './http.ts';
import { type HttpReply, jsonReply, withHeaders } from './reply.ts';

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
const JOB_PATH = `${JOBS_PATH}/{id}` as const;
const WEBHOOK_PATH = `${JOB_PATH}/webhook` as const;

/**
 * The paths of the API. The router, the OpenAPI description and the gateway on AWS read this list. `curl -T` appends
 * the name of the file to the path.
 */
export const ROUTES = {
  '/api': { endpoint: 'convert', methods: ['GET'], uploadMethods: ['POST', 'PUT'] },
  [JSON_PATH]: { endpoint: 'convert', methods: ['GET'], uploadMethods: ['POST', 'PUT'] },
  '/api/usage': { endpoint: 'usage', methods: ['GET'] },
  '/api/uploads': { endpoint: 'uploads', methods: [], uploadMethods: ['POST', 'DELETE'] },
  '/api/results': { endpoint: 'results', methods: ['DELETE'] },
  [JOBS_PATH]: { endpoint: 'jobs', methods: ['GET', 'POST'] },
  [JOB_PATH]: { endpoint: 'jobs', methods: ['GET', 'DELETE'] },
  [WEBHOOK_PATH]: { endpoint: 'jobs', methods: ['POST'] },
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
  if (/^\/api\/jobs\/[^/]+$/.test(path)) return JOB_PATH;
  if (/^\/api\/jobs\/[^/]+\/webhook$/.test(path)) return WEBHOOK_PATH;
  // A browser asks with OPTIONS whether it may send the file.
  if (isNamed && method === 'OPTIONS') return NAMED;
  return method === 'DELETE' && servesFiles && path.startsWith(FILES_PATH) ? '/api/results' : undefined;
}

export interface HealthDependencies {
  /** Checks the state of the tools. */
  readonly health: () => Promise<Health>;
  /** Checks resources that all tools need, if they are known. */
  readonly machine?: () => Readonly<Record<string, MachineStatus>>;
  /** Body of `GET /api/version`. */
  readonly version: object;
}

const READY: readonly string[] = ['up', 'busy'];

/** Returns 200 if every tool can convert, and 503 if a tool is down or still starting, or if the disk is full. */
export async function healthReply({ health, machine }: HealthDependencies): Promise<HttpReply> {
  const tools = await health();
  const shared = machine?.();
  const isReady = Object.values({ ...tools, ...shared }).every((status) => READY.includes(status));
  return jsonReply(isReady ? 200 : 503, {
    status: isReady ? 'up' : 'down',
    tools,
    ...(shared && { machine: shared }),
  });
}

/** Returns this month's usage of a key's account. The request itself is not counted. */
export async function readUsage(
  key: KeyRecord,
  dependencies: {
    readonly usage: Usage;
    /** Absent if the cost of conversions is not reported. */
    readonly priceRows?: PriceRows | undefined;
    readonly limiter: Limiter;
    readonly defaultLimits: RateLimits;
  },
): Promise<HttpReply> {
  const { usage, priceRows, limiter, defaultLimits } = dependencies;
  const now = Date.now();
  const month = monthOf(now);
  const [rows, used] = await Promise.all([usage.month(month, key.account), limiter.used(key.account, now)]);
  const limits = limitsOf(key, defaultLimits);
  const reply = jsonReply(200, usageReport({ month, rows: priceRows?.(rows) ?? rows, limits, used, now }));
  return withHeaders(reply, limitHeaders(limits, used, 'none', now));
}

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

interface CorsRequest {
  readonly method: string;
  header(name: string): string | undefined;
}

/** Seconds that a browser caches the response to a preflight request. */
const MAX_AGE = 7200;

/**
 * Returns the headers that let pages of the allowed origins read a response. `*` allows every origin. Cookies have no
 * effect here, so a page can only use credentials that it sends itself.
 */
export function corsHeaders(
  http: CorsRequest,
  allowed: readonly string[] = [],
): Readonly<Record<string, string>> {
  if (allowed.length === 0) return {};
  const origin = http.header('origin') ?? '';
  const vary = { Vary: 'Origin' };
  const isAny = allowed.includes('*');
  if (!isAny && !allowed.includes(origin)) return vary;
  return {
    ...(isAny ? { 'Access-Control-Allow-Origin': '*' } : { ...vary, 'Access-Control-Allow-Origin': origin }),
    'Access-Control-Expose-Headers': '*',
  };
}

/** Returns the response to a browser's preflight request, or `undefined` for other requests. */
export function preflightReply(http: CorsRequest, allowed: readonly string[] = []): HttpReply | undefined {
  if (allowed.length === 0 || http.method !== 'OPTIONS') return undefined;
  const headers = {
    'Access-Control-Allow-Methods': 'GET, POST, PUT, DELETE',
    // The asterisk does not include `Authorization`.
    'Access-Control-Allow-Headers': '*, Authorization',
    'Access-Control-Max-Age': String(MAX_AGE),
  };
  return { status: 204, headers, body: '' };
}
