import { randomBytes } from 'node:crypto';
import { request } from 'node:https';
import { buffer } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { createEgressGuard } from '../../../../functions/shared/egress/guard.ts';
import { requestSource, TlsGate } from '../../../../functions/shared/source/request.ts';
import { selfSigned, slowChain } from '../../../helpers/certificate.ts';
import { serveTls } from '../../../helpers/fault-server.ts';

const content = randomBytes(300_000);

async function serve(certificate: { cert: string; key: string }) {
  const server = await serveTls(certificate, (_request, response) => response.end(content));
  onTestFinished(() => server.close());
  const egress = createEgressGuard({ exceptions: [new URL(server.origin).host] });
  return { ...server, checked: await egress.check(server.origin) };
}

const BUDGETS = { connect: 5000, headers: 5000, idle: 5000, whole: 5000 };

it('passes on everything after the handshake', async () => {
  const { checked } = await serve(selfSigned('127.0.0.1'));
  const gate = new TlsGate(checked, 'a');
  const sent = request({ agent: false, socket: gate, rejectUnauthorized: false } as object);
  sent.once('socket', (socket) => socket.once('secureConnect', () => gate.secured()));
  const received = new Promise<Buffer>((resolve, reject) => {
    sent.once('response', (response) => buffer(response).then(resolve, reject)).once('error', reject);
  });
  sent.end();

  expect((await received).equals(content)).toBe(true);
});

it('ends a handshake with more certificates than servers send', async () => {
  const { checked, connections } = await serve(slowChain(99));
  const { signal } = new AbortController();
  const options = { authorization: undefined, budgets: BUDGETS, signal, account: 'a' };

  const requested = requestSource(checked, options);

  await expect(requested).rejects.toMatchObject({
    code: 'SOURCE_UNREACHABLE',
    message: expect.stringContaining('handshake is too large'),
  });
  expect(connections()).toBe(1);
});

it('still says that a certificate is not valid', async () => {
  const { checked } = await serve(selfSigned('127.0.0.1'));
  const { signal } = new AbortController();

  const requested = requestSource(checked, {
    authorization: undefined,
    budgets: BUDGETS,
    signal,
    account: 'a',
  });

  await expect(requested).rejects.toMatchObject({
    message: expect.stringContaining('certificate is not valid'),
  });
});
