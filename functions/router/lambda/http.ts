import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { FRONT_HEADER } from '../../shared/settings/aws.ts';
import type { Site, SiteReply } from '../../site/site.ts';
import { type HttpRequest, takesBody } from '../http.ts';
import type { HttpReply } from '../reply.ts';

/** Global of the Lambda runtime for functions that stream their response. */
declare const awslambda: {
  streamifyResponse(
    handle: (event: APIGatewayProxyEvent, stream: NodeJS.WritableStream) => Promise<void>,
  ): unknown;
  HttpResponseStream: {
    from(
      stream: NodeJS.WritableStream,
      head: { statusCode: number; headers: Readonly<Record<string, string>> },
    ): NodeJS.WritableStream;
  };
};

/**
 * Returns a handler for a streaming REST API integration. It sends status and headers together with the body. `time`
 * is the maximum duration of a response in milliseconds. Lambda may freeze the function once `idle` has resolved
 * after the response.
 */
export function streamReply(
  respond: (request: HttpRequest, signal: AbortSignal) => Promise<HttpReply | SiteReply>,
  time: number,
  idle: () => Promise<void> = async () => {},
  frontSecret?: string,
): unknown {
  return awslambda.streamifyResponse(async (event, stream) => {
    const signal = AbortSignal.timeout(time);
    const reply: HttpReply | SiteReply = await respond(readProxyEvent(event, frontSecret), signal);
    const { status, headers, body } = reply;
    const response = awslambda.HttpResponseStream.from(stream, { statusCode: status, headers });
    if (body instanceof Readable) {
      await pipeline(body, response, { signal });
    } else {
      // AWS's client sends status and headers from inside `write`, and never from `end`
      // (aws-lambda-nodejs-runtime-interface-client#97).
      response.write(body instanceof URL ? '' : body);
      response.end();
    }
    await idle();
  });
}

/**
 * Reads a proxy event. The gateway has decoded the query and groups its values by name. `frontSecret` is the value of
 * the header that CloudFront adds, if it is in front.
 */
export function readProxyEvent(event: APIGatewayProxyEvent, frontSecret?: string): HttpRequest {
  const query = Object.entries(event.multiValueQueryStringParameters ?? {}).flatMap(([name, values]) =>
    (values ?? []).map((value) => ({ name, value })),
  );
  // `event.headers` has only the last value of a repeated header.
  const headers = Object.entries({ ...event.headers, ...event.multiValueHeaders });
  const header = (wanted: string) => {
    const found = headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
    const gatewayId = wanted === 'x-request-id' ? event.requestContext.requestId : undefined;
    return Array.isArray(found) ? found.join(', ') : (found ?? gatewayId);
  };
  const { body, isBase64Encoded } = event;
  const content = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  // The path that the caller requested, including the stage. `event.path` has no stage.
  return {
    method: event.httpMethod,
    path: event.requestContext.path,
    query,
    unordered: query.length,
    header,
    ...(body && takesBody(event.httpMethod) && { body: Readable.from([content], { objectMode: false }) }),
    ip: callerOf(event.requestContext.identity?.sourceIp, header, frontSecret),
  };
}

/**
 * Returns the IP address of the caller. CloudFront appends that of its caller to `X-Forwarded-For`, and the gateway
 * appends CloudFront's. What comes before was sent by the caller.
 */
function callerOf(
  sourceIp: string | undefined,
  header: HttpRequest['header'],
  frontSecret: string | undefined,
): string | undefined {
  if (frontSecret === undefined || header(FRONT_HEADER.toLowerCase()) !== frontSecret) return sourceIp;
  const forwarded = (header('x-forwarded-for') ?? '')
    .slice(-200)
    .split(',')
    .map((ip) => ip.trim());
  if (forwarded.at(-1) === sourceIp) forwarded.pop();
  const viewer = forwarded.at(-1) ?? '';
  return isIP(viewer) === 0 ? sourceIp : viewer;
}

/** Serves the site's pages next to the API. */
export interface SiteGateway {
  /** Responds to a request for a page, and passes on all others. */
  respond(
    request: HttpRequest,
    route: (request: HttpRequest) => Promise<HttpReply>,
  ): Promise<HttpReply | SiteReply>;
  /** Waits for emails that are still being sent. */
  idle(): Promise<void>;
}

interface GatewayDependencies {
  /** Base path of the site. */
  readonly path: string;
  /** Origin of the site. A request may have a proxy's host name instead. */
  readonly origin: string;
  /** Opens the site on the first request for a page. `keep` takes tasks that may finish after the reply. */
  open(keep: (task: Promise<void>) => Promise<void>): Promise<Site>;
}

/** Creates the gateway, which opens the site on the first request for a page. */
export function createSiteGateway({ path, origin, open }: GatewayDependencies): SiteGateway {
  const tasks = new Set<Promise<void>>();
  let opened: Promise<Site> | undefined;

  function keep(task: Promise<void>): Promise<void> {
    const ended = task.then(
      () => void tasks.delete(ended),
      () => void tasks.delete(ended),
    );
    tasks.add(ended);
    return task;
  }

  function site(): Promise<Site> {
    opened ??= open(keep);
    opened.catch(() => (opened = undefined));
    return opened;
  }

  return {
    async respond(request, route) {
      const isPage = request.path === path || request.path.startsWith(`${path}/`);
      if (!isPage) return route(request);
      const reply = await (await site()).respond(request, origin);
      if (!reply) return route(request);
      if ('routed' in reply) return route(reply.routed);
      return request.method === 'HEAD' ? { ...reply, body: '' } : reply;
    },
    async idle() {
      await Promise.all(tasks);
    },
  };
}
