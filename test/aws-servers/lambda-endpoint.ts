import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { EventStreamCodec } from '@smithy/core/event-streams';

/** How a function ended: its response, or its failure in Lambda's terms. */
export interface Ending {
  readonly payload: unknown;
  readonly functionError?: 'Handled' | 'Unhandled';
  /** Log of the function for the event. */
  readonly log?: string;
}

/** A rejection by the Lambda service itself, such as `TooManyRequestsException` with status 429. */
export class Refusal extends Error {
  readonly status: number;
  readonly type: string;

  constructor(status: number, type: string, message = type) {
    super(message);
    this.status = status;
    this.type = type;
  }
}

export type RunFunction = (name: string, event: unknown, account: string | undefined) => Promise<Ending>;

/** Responds to the requests of another part of the Lambda API. */
type Respond = (
  request: IncomingMessage,
) => Promise<{ readonly status: number; readonly headers: object; readonly body: string } | undefined>;

/** An endpoint with the synchronous part of the Lambda Invoke API, and what `respond` adds. */
export async function startLambdaEndpoint(run: RunFunction, respond?: Respond) {
  const server = createServer(async (request, response) => {
    try {
      const reply = await respond?.(request);
      if (reply) return void response.writeHead(reply.status, { ...reply.headers }).end(reply.body);
    } catch (error) {
      return refuse(response, error instanceof Refusal ? error : new Refusal(500, 'ServiceException'));
    }
    const path = decodeURIComponent(request.url ?? '');
    const [, name, streaming] =
      /^\/20\d\d-\d\d-\d\d\/functions\/([\w:-]{1,140})\/(response-streaming-)?invocations$/.exec(path) ?? [];
    if (request.method !== 'POST' || !name)
      return refuse(response, new Refusal(404, 'ResourceNotFoundException'));
    const given = request.headers['x-amz-tenant-id'];
    const account = typeof given === 'string' ? given : undefined;
    try {
      const { payload, functionError, log } = await run(name, await json(request), account);
      if (streaming) return void response.end(streamOf(payload, functionError));
      if (functionError) response.setHeader('x-amz-function-error', functionError);
      if (request.headers['x-amz-log-type'] === 'Tail' && log !== undefined) {
        response.setHeader('x-amz-log-result', Buffer.from(log).subarray(-4096).toString('base64'));
      }
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(payload) ?? '');
    } catch (error) {
      refuse(response, error instanceof Refusal ? error : new Refusal(500, 'ServiceException'));
    }
  });
  // A conversion may take minutes.
  server.requestTimeout = 0;
  // Node's own 5 s would close the connections of every router that is frozen for so long.
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    close: async () => {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

/** Encodes a response as the messages of a stream. */
function streamOf(payload: unknown, functionError: string | undefined): Buffer {
  const codec = new EventStreamCodec(String, (text) => Buffer.from(text));
  const message = (type: string, contentType: string, body: Uint8Array) =>
    codec.encode({
      headers: {
        ':message-type': { type: 'string', value: 'event' },
        ':event-type': { type: 'string', value: type },
        ':content-type': { type: 'string', value: contentType },
      },
      body,
    });
  const end = JSON.stringify(functionError ? { ErrorCode: functionError } : {});
  return Buffer.concat([
    ...(payload instanceof Buffer ? [message('PayloadChunk', 'application/octet-stream', payload)] : []),
    message('InvokeComplete', 'application/json', Buffer.from(end)),
  ]);
}

function refuse(response: ServerResponse, { status, type, message }: Refusal): void {
  response.writeHead(status, { 'content-type': 'application/json', 'x-amzn-errortype': type });
  response.end(JSON.stringify({ Type: 'User', Message: message }));
}
