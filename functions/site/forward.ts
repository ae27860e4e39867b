import { InvokeWithResponseStreamCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import type { GatewayEvent } from '../router/lambda/http.ts';
import type { HttpReply } from '../router/reply.ts';
import { ConversionError } from '../shared/errors.ts';

/** Separates status and headers of a streamed response from its body. */
const ZEROS = Buffer.alloc(8);

/** Passes on an event of the gateway to the router's function, and returns the response. */
export type Forward = (event: GatewayEvent, signal: AbortSignal) => Promise<HttpReply>;

/**
 * Creates `Forward` for a version of the router. A conversion may be running when an error occurs, so nothing is retried.
 */
export function createForward(client: LambdaClient, router: string): Forward {
  return async (event, signal) => {
    const command = new InvokeWithResponseStreamCommand({
      FunctionName: router,
      Payload: JSON.stringify(event),
    });
    try {
      const { EventStream = [] } = await client.send(command, { abortSignal: signal });
      const chunks: Uint8Array[] = [];
      for await (const { PayloadChunk, InvokeComplete } of EventStream) {
        if (PayloadChunk?.Payload) chunks.push(PayloadChunk.Payload);
        if (InvokeComplete?.ErrorCode) throw new Error(`The router failed: ${InvokeComplete.ErrorCode}`);
      }
      return readResponse(Buffer.concat(chunks));
    } catch (cause) {
      throw new ConversionError('OVERLOADED', undefined, { cause });
    }
  };
}

function readResponse(bytes: Buffer): HttpReply {
  const end = bytes.indexOf(ZEROS);
  const head = JSON.parse(bytes.toString('utf8', 0, end)) as {
    readonly statusCode: number;
    readonly headers: HttpReply['headers'];
  };
  return { status: head.statusCode, headers: head.headers, body: bytes.subarray(end + ZEROS.length) };
}
