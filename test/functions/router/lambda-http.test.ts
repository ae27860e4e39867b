import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readEvent, streamReply } from '../../../functions/router/lambda-http.ts';

const event = (fields: object) =>
  ({
    httpMethod: 'GET',
    path: '/',
    headers: {},
    multiValueQueryStringParameters: null,
    requestContext: { path: '/api/' },
    ...fields,
  }) as unknown as APIGatewayProxyEvent;

it('reads the path that the caller requested', () => {
  expect(readEvent(event({ requestContext: { path: '/api' } }))).toMatchObject({
    method: 'GET',
    path: '/api',
  });
});

it('reads a request without a query', () => {
  expect(readEvent(event({})).query).toEqual([]);
});

it('keeps the order of names and every value of a repeated one', () => {
  const values = { app: ['imageproc'], '-crop': ['1x1'], '-resize': ['5x5!'], '--cookie': ['a:1', 'b:2'] };
  const { query, grouped } = readEvent(event({ multiValueQueryStringParameters: values }));

  expect(grouped).toBe(true);
  expect(query).toEqual([
    { name: 'app', value: 'imageproc' },
    { name: '-crop', value: '1x1' },
    { name: '-resize', value: '5x5!' },
    { name: '--cookie', value: 'a:1' },
    { name: '--cookie', value: 'b:2' },
  ]);
});

it('finds the loop header in any case', () => {
  expect(readEvent(event({ multiValueHeaders: { 'cdn-LOOP': ['docmill'] } })).header('cdn-loop')).toBe(
    'docmill',
  );
});

it('finds the loop header where a proxy has added another one', () => {
  const headers = { 'CDN-Loop': 'cloudflare' };
  const multiValueHeaders = { 'CDN-Loop': ['docmill', 'cloudflare'] };

  expect(readEvent(event({ headers, multiValueHeaders })).header('cdn-loop')).toBe('docmill, cloudflare');
});

describe('a result as the response', () => {
  afterEach(() => vi.unstubAllGlobals());

  it('is streamed from the storage, with its type, length and name', async () => {
    const content = 'x'.repeat(3_000_000);
    const server = createServer((_, response) =>
      response
        .writeHead(200, {
          'Content-Type': 'image/png',
          'Content-Length': content.length,
          'Content-Disposition': 'inline; filename="a.png"',
          'X-Amz-Request-Id': 'private',
        })
        .end(content),
    ).listen(0, '127.0.0.1');
    await new Promise((resolve) => server.once('listening', resolve));
    const heads: unknown[] = [];
    vi.stubGlobal('awslambda', {
      streamifyResponse: (handle: unknown) => handle,
      HttpResponseStream: {
        from: (stream: unknown, head: unknown) => {
          heads.push(head);
          return stream;
        },
      },
    });
    const file = `http://127.0.0.1:${(server.address() as AddressInfo).port}/a.png`;
    const headers = { 'Content-Type': 'text/plain', 'X-Page-Count': '3' };
    const handler = streamReply(async () => ({ status: 200, headers, body: '', file })) as (
      ...args: unknown[]
    ) => Promise<void>;
    const stream = new PassThrough();

    const [body] = await Promise.all([text(stream), handler(event({}), stream)]);

    expect(body).toBe(content);
    expect(heads).toEqual([
      {
        statusCode: 200,
        headers: {
          'X-Page-Count': '3',
          'content-type': 'image/png',
          'content-length': '3000000',
          'content-disposition': 'inline; filename="a.png"',
        },
      },
    ]);
    server.close();
  });
});
