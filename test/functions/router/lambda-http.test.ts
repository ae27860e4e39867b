import type { APIGatewayProxyEvent } from 'aws-lambda';
import { expect, it } from 'vitest';
import { readEvent } from '../../../functions/router/lambda-http.ts';

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
  expect(readEvent(event({ multiValueHeaders: { 'cdn-LOOP': ['docmill'] } })).loop).toBe('docmill');
});

it('finds the loop header where a proxy has added another one', () => {
  const headers = { 'CDN-Loop': 'cloudflare' };
  const multiValueHeaders = { 'CDN-Loop': ['docmill', 'cloudflare'] };

  expect(readEvent(event({ headers, multiValueHeaders })).loop).toBe('docmill, cloudflare');
});
