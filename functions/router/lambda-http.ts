import type { APIGatewayProxyEvent } from 'aws-lambda';
import type { HttpReply } from './reply.ts';
import type { HttpRequest } from './route.ts';

/** What the Lambda runtime offers to functions that stream their response. */
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

/** Returns a handler for a streaming REST API integration. It sends status and headers together with the body. */
export function streamReply(respond: (request: HttpRequest) => Promise<HttpReply>): unknown {
  return awslambda.streamifyResponse(async (event, stream) => {
    const { status, headers, body } = await respond(readEvent(event));
    const response = awslambda.HttpResponseStream.from(stream, { statusCode: status, headers });
    // AWS's client sends status and headers from inside `write`, and never from `end`
    // (aws-lambda-nodejs-runtime-interface-client#97).
    response.write(body);
    response.end();
  });
}

/** Reads a proxy event. The gateway has decoded the query and groups its values by name. */
export function readEvent(event: APIGatewayProxyEvent): HttpRequest {
  const query = Object.entries(event.multiValueQueryStringParameters ?? {}).flatMap(([name, values]) =>
    (values ?? []).map((value) => ({ name, value })),
  );
  // `event.headers` has only the last value of a repeated header.
  const headers = Object.entries({ ...event.headers, ...event.multiValueHeaders });
  const header = (wanted: string) => {
    const found = headers.find(([name]) => name.toLowerCase() === wanted)?.[1];
    return Array.isArray(found) ? found.join(', ') : found;
  };
  // The path that the caller requested, including the stage; `event.path` has no stage.
  return {
    method: event.httpMethod,
    path: event.requestContext.path,
    query,
    grouped: true,
    loop: header('cdn-loop'),
    requestId: header('x-request-id'),
    traceparent: header('traceparent'),
    ip: event.requestContext.identity?.sourceIp,
  };
}
