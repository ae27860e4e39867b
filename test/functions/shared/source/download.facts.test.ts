import type { IncomingMessage, ServerResponse } from 'node:http';
import { afterEach, expect, it } from 'vitest';
import { createEgressGuard } from '../../../../functions/shared/egress/guard.ts';
import { createReadFacts } from '../../../../functions/shared/source/download.ts';
import { HEAD_BYTES } from '../../../../functions/shared/source/file-kind.ts';
import { type Listening, serveHttp } from '../../../helpers/fault-server.ts';

const servers: Listening[] = [];
afterEach(() => Promise.all(servers.splice(0).map((server) => server.close())));

async function factsOf(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  const server = await serveHttp(answer);
  servers.push(server);
  const read = createReadFacts(createEgressGuard({ exceptions: [`127.0.0.1:${server.port}`] }));
  return read(`${server.origin}/a.bin`, { account: 'one', signal: new AbortController().signal });
}

it('are the first bytes, the name and the type of a source that never ends', async () => {
  const facts = await factsOf((_request, response) => {
    response.writeHead(200, {
      'content-type': 'Application/PDF; x=1',
      'content-disposition': 'inline; filename=b.pdf',
    });
    response.write(`%PDF-\xe9${'x'.repeat(5000)}`, 'latin1');
  });

  expect(facts).toEqual({
    head: `%PDF-\xe9${'x'.repeat(HEAD_BYTES - 6)}`,
    name: 'b.pdf',
    contentType: 'application/pdf',
  });
});

it('leave pages with an error status to the tools', async () => {
  const facts = await factsOf((_request, response) => {
    response.writeHead(403, { 'content-type': 'text/html' }).end('<html>No');
  });

  expect(facts).toMatchObject({ head: '<html>No', contentType: 'text/html' });
});

it.each([
  ['an error status', (response: ServerResponse) => response.writeHead(404).end('no'), 'SOURCE_STATUS'],
  ['no bytes', (response: ServerResponse) => response.end(), 'CORRUPT_SOURCE'],
  ['a broken connection', (response: ServerResponse) => response.destroy(), 'SOURCE_UNREACHABLE'],
  [
    'a redirect to a private address',
    (response: ServerResponse) => response.writeHead(302, { location: 'http://127.0.0.1:9/' }).end(),
    'BLOCKED_ADDRESS',
  ],
])('cannot be read from a source with %s', async (_, answer, code) => {
  await expect(factsOf((_request, response) => void answer(response))).rejects.toMatchObject({ code });
});
