import { Readable } from 'node:stream';
import { buffer } from 'node:stream/consumers';
import { beforeEach, expect, it } from 'vitest';
import type { Invocation, InvocationResult } from '../../../functions/platform/invoke.ts';
import type { Dependencies } from '../../../functions/router/dependencies.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { ConversionError } from '../../../functions/shared/errors.ts';
import type { SourceFacts } from '../../../functions/shared/source/file-kind.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { KEPT_RESULTS } from '../../helpers/kept-results.ts';
import { recordOf, unlimited } from '../accounts.ts';
import { headerOf } from './header.ts';

let invocations: Invocation[];
let facts: SourceFacts | ConversionError;
let stored: Set<string>;
let allowed: readonly string[] | undefined;
let dependencies: Dependencies;

beforeEach(() => {
  invocations = [];
  facts = { head: '%PDF-1.7', name: 'a.pdf', contentType: '' };
  stored = new Set();
  allowed = undefined;
  dependencies = {
    ...unlimited,
    tools: Object.values(tools),
    keys: {
      find: async (apiKey) =>
        apiKey === 'KEY' ? { ...recordOf('owner'), ...(allowed && { tools: allowed }) } : undefined,
      findSigner: async () => undefined,
    },
    storage: {
      ...KEPT_RESULTS,
      grant: async (request) => ({ ...request }),
      url: async (objectKey) => `https://files.example/${objectKey}`,
    },
    uploads: {
      receive: async ({ objectKey, content }) => {
        stored.add(objectKey);
        return (await buffer(content)).length;
      },
      exists: async (objectKey) => stored.has(objectKey),
      remove: async () => {},
      form: async () => ({ url: '', fields: {} }),
    },
    invoke: async (invocation): Promise<InvocationResult> => {
      invocations.push(invocation);
      if (!invocation.readsFacts) return { ok: true, objectKeys: [`${invocation.grant.prefix}b`] };
      if (facts instanceof ConversionError) return { ok: false, error: facts.toReport() };
      return { ok: true, objectKeys: [], facts };
    },
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    demo: { perAddress: 5, perHour: 60 },
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    log: () => {},
  };
});

function send(text: string, { key = 'KEY', body = undefined as string | undefined } = {}) {
  const query = [...new URLSearchParams(text)].map(([name, value]) => ({ name, value }));
  const request = {
    method: body === undefined ? 'GET' : 'POST',
    path: '/api/',
    query,
    header: headerOf({ 'x-api-key': key, 'content-type': 'application/octet-stream' }),
    ...(body !== undefined && { body: Readable.from([Buffer.from(body)], { objectMode: false }) }),
  };
  return route(request, dependencies, new AbortController().signal);
}

const URL_QUERY = 'app=auto&infile=https://example.org/a&outfile=a.png';
const toolsUsed = () => invocations.map(({ tool, readsFacts }) => (readsFacts ? 'facts' : tool));

it('reads the beginning of a URL, and names the tool that it has chosen', async () => {
  const { body, headers } = await send(`${URL_QUERY}&-r=72`);

  expect(body).toMatch(/^\[Output\] /);
  expect(headers['X-App']).toBe('pdftools');
  expect(toolsUsed()).toEqual(['facts', 'pdftools']);
  expect(invocations[1]!.options).toMatchObject({ resolution: 72 });
});

it('chooses by the bytes of a file or a data URL without another request', async () => {
  expect((await send('app=auto&outfile=a.png', { body: '<html>Hi' })).headers['X-App']).toBe('html2image');
  expect((await send('app=auto&outfile=a.pdf&infile=data:,Hello')).headers['X-App']).toBe('doc2any');

  expect(toolsUsed()).toEqual(['html2image', 'doc2any']);
});

it('reports an option that no tool has before anything is read', async () => {
  const { body } = await send(`${URL_QUERY}&--heigth=5`);

  expect(body).toMatch(/^\[ERROR\] Unknown option '--heigth' for \w+\./);
  expect(invocations).toEqual([]);
});

it('reports an option that the chosen tool does not have', async () => {
  const { body, status } = await send(`${URL_QUERY}&--zoom=2`);

  expect(status).toBe(400);
  expect(body).toMatch(/'--zoom' for pdftools/);
});

it('chooses the tool that has the options, and takes what becomes a PDF', async () => {
  const query = 'app=auto&infile=data:,Hello';
  const append = '-append=https://s.example/b.pdf';
  expect((await send(`${query}&outfile=a.pdf&${append}`)).headers['X-App']).toBe('pdftools');
  expect((await send(`${query}&outfile=a.pdf&--encrypt=x`)).headers['X-App']).toBe('doc2any');
  expect((await send(`${query}&outfile=a.webp`)).body).toMatch(/a \.webp file, but doc2any writes/);
});

it('reports a source that cannot be read, and one of an unknown kind', async () => {
  facts = new ConversionError('SOURCE_STATUS', 'The source server returned status 404.');
  expect((await send(URL_QUERY)).body).toContain('status 404. (SOURCE_STATUS)');

  facts = { head: '\0\x01\x02', name: '', contentType: '' };
  expect((await send(URL_QUERY)).body).toMatch(
    /The kind of the source is not known\. Name the tool in 'app': .*\(UNSUPPORTED_SOURCE\)/,
  );
});

it('names the formats of the only tool that reads the source', async () => {
  const { body } = await send(URL_QUERY.replace('png', 'docx'));

  expect(body).toMatch(/asks for a \.docx file, but pdftools writes .*\(UNSUPPORTED_CONVERSION\)/);
});

it('uses no tool that the key does not allow', async () => {
  allowed = ['imageproc'];

  expect((await send(URL_QUERY)).body).toMatch(/must be one of imageproc for this API key, got 'pdftools'/);
  expect(toolsUsed()).toEqual(['facts']);
});

it('converts in demo mode', async () => {
  expect((await send(URL_QUERY, { key: '' })).body).toMatch(/\nDemo result: https:/);

  expect(toolsUsed()).toEqual(['facts', 'pdftools', 'imageproc']);
});
