import { isIP } from 'node:net';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { FRONT_HEADER } from '../../shared/settings/aws.ts';
import { type HttpRequest, takesBody } from '../http.ts';
import type { HttpReply } from '../reply.ts';

/** An event of the gateway. Only the site adds a member: the gateway writes events itself, and callers cannot. */
export type GatewayEvent = APIGatewayProxyEvent & Pick<HttpRequest, 'member'>;

/** Responds to a request. The event is what the gateway has sent. */
export type Respond = (request: HttpRequest, signal: AbortSignal, event: GatewayEvent) => Promise<HttpReply>;

/** Global of the Lambda runtime for functions that stream their response. */
declare const awslambda: {
  streamifyResponse(handle: (event: GatewayEvent, stream: NodeJS.WritableStream) => Promise<void>): unknown;
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
  respond: Respond,
  time: number,
  idle: () => Promise<void> = async () => {},
  frontSecret?: string,
): unknown {
  return awslambda.streamifyResponse(async (event, stream) => {
    const signal = AbortSignal.timeout(time);
    const request = readProxyEvent(event, frontSecret);
    const { status, headers, body } = await respond(request, signal, event);
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
export function readProxyEvent(event: GatewayEvent, frontSecret?: string): HttpRequest {
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
  const { body, isBase64Encoded, member } = event;
  const content = Buffer.from(body ?? '', isBase64Encoded ? 'base64' : 'utf8');
  // The path that the caller requested, including the stage. `event.path` has no stage.
  return {
    method: event.httpMethod,
    path: event.requestContext.path,
    query,
    unordered: query.length,
    header,
    ...(body && takesBody(event.httpMethod) && { body: Readable.from([content], { objectMode: false }) }),
    ...(member && { member }),
    origin: `https://${event.requestContext.domainName}`,
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
