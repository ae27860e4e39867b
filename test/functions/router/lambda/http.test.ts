import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import type { APIGatewayProxyEvent } from 'aws-lambda';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { readProxyEvent, streamReply } from '../../../../functions/router/lambda/http.ts';

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
  expect(readProxyEvent(event({ requestContext: { path: '/api' } }))).toMatchObject({
    method: 'GET',
    path: '/api',
  });
});

it('reads a request without a query', () => {
  expect(readProxyEvent(event({})).query).toEqual([]);
});

it('keeps the order of names and every value of a repeated one', () => {
  const values = { app: ['imageproc'], '-crop': ['1x1'], '-resize': ['5x5!'], '--cookie': ['a:1', 'b:2'] };
  const { query, unordered } = readProxyEvent(event({ multiValueQueryStringParameters: values }));

  expect(unordered).toBe(query.length);
  expect(query).toEqual([
    { name: 'app', value: 'imageproc' },
    { name: '-crop', value: '1x1' },
    { name: '-resize', value: '5x5!' },
    { name: '--cookie', value: 'a:1' },
    { name: '--cookie', value: 'b:2' },
  ]);
});

it.each([
  ['GET', undefined],
  ['HEAD', undefined],
  ['POST', '{}'],
  ['PUT', '{}'],
])('reads the body only of requests that take one: %s', async (httpMethod, expected) => {
  const { body } = readProxyEvent(event({ httpMethod, body: '{}' }));

  expect(body && (await text(body))).toBe(expected);
});

it('finds the loop header in any case', () => {
  expect(readProxyEvent(event({ multiValueHeaders: { 'cdn-LOOP': ['docmill'] } })).header('cdn-loop')).toBe(
    'docmill',
  );
});

it('finds the loop header where a proxy has added another one', () => {
  const headers = { 'CDN-Loop': 'cloudflare' };
  const multiValueHeaders = { 'CDN-Loop': ['docmill', 'cloudflare'] };

  expect(readProxyEvent(event({ headers, multiValueHeaders })).header('cdn-loop')).toBe(
    'docmill, cloudflare',
  );
});

describe('a result as the response', () => {
  afterEach(() => vi.unstubAllGlobals());

  function start(content: Readable, time: number) {
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
    const headers = { 'Content-Type': 'image/png' };
    const respond = async () => ({ status: 200, headers, body: content });
    const handler = streamReply(respond, time) as (...args: unknown[]) => Promise<void>;
    const stream = new PassThrough();
    return { heads, stream, handled: handler(event({}), stream) };
  }

  it('is streamed with its headers', async () => {
    const content = 'x'.repeat(3_000_000);
    const { heads, stream, handled } = start(Readable.from([content]), 60_000);

    const [body] = await Promise.all([text(stream), handled]);

    expect(body).toBe(content);
    expect(heads).toEqual([{ statusCode: 200, headers: { 'Content-Type': 'image/png' } }]);
  });

  it('ends with the time of the response if the storage stops sending', async () => {
    const content = new Readable({ read() {} });
    const { stream, handled } = start(content, 1);
    stream.on('error', () => {});

    await expect(handled).rejects.toMatchObject({ name: 'AbortError' });
    expect(content.destroyed).toBe(true);
  });
});

it.each([
  [
    'the address that CloudFront has appended',
    'secret',
    '198.51.100.7, 203.0.113.9, 130.176.0.1',
    '203.0.113.9',
  ],
  ['that of IPv6', 'secret', '2001:db8::1, 130.176.0.1', '2001:db8::1'],
  [
    'that of the connection without the header of CloudFront',
    undefined,
    '203.0.113.9, 130.176.0.1',
    '130.176.0.1',
  ],
  [
    'that of the connection with a header that the caller made up',
    'guess',
    '203.0.113.9, 130.176.0.1',
    '130.176.0.1',
  ],
  ['that of the connection if none was appended', 'secret', '130.176.0.1', '130.176.0.1'],
  ['that of the connection instead of another text', 'secret', 'localhost, 130.176.0.1', '130.176.0.1'],
])('takes as the caller behind CloudFront %s', (_, front, forwarded, expected) => {
  const headers = { 'X-Forwarded-For': forwarded, ...(front && { 'x-docmill-front': front }) };
  const requestContext = { path: '/api/', identity: { sourceIp: '130.176.0.1' } };

  expect(readProxyEvent(event({ headers, requestContext }), 'secret').ip).toBe(expected);
  expect(readProxyEvent(event({ headers, requestContext })).ip).toBe('130.176.0.1');
});
