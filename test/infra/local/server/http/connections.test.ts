import { once } from 'node:events';
import { Agent, createServer, get, type IncomingMessage } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, it, onTestFinished } from 'vitest';
import { boundConnections } from '../../../../../infra/local/server/http/connections.ts';

const MAX = 20;

it('closes idle connections of the network that has the most of them', async () => {
  const server = createServer({ keepAliveTimeout: 60_000 }, (_request, response) => response.end('answer'));
  const connections = boundConnections(server, MAX);
  await once(server.listen(0), 'listening');
  const { port } = server.address() as AddressInfo;
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  const others: Socket[] = [];
  onTestFinished(() => {
    agent.destroy();
    for (const socket of others) socket.destroy();
    server.close();
  });
  const ask = async () => {
    const request = get({ host: '127.0.0.1', port, agent });
    const [response] = (await once(request, 'response')) as [IncomingMessage];
    return { body: await text(response), wasOpen: request.reusedSocket };
  };
  await ask();

  for (let count = 0; count < 3 * MAX; count++) {
    const socket = connect({ host: '127.0.0.1', localAddress: '127.0.0.2', port });
    others.push(socket.on('error', () => {}));
    await once(socket, 'connect');
  }

  expect(await ask()).toEqual({ body: 'answer', wasOpen: true });
  expect(connections.count).toBeLessThanOrEqual(MAX);
});

it('closes connections whose clients do not read their replies before it refuses new ones', async () => {
  const body = Buffer.alloc(8_000_000, 'x');
  const server = createServer((request, response) => {
    connections.markReply(request);
    response.end(body);
  });
  const connections = boundConnections(server, MAX);
  await once(server.listen(0), 'listening');
  const { port } = server.address() as AddressInfo;
  const unread = Array.from({ length: MAX }, () => connect(port, '127.0.0.1').on('error', () => {}));
  onTestFinished(() => {
    for (const socket of unread) socket.destroy();
    server.close();
  });
  for (const socket of unread) socket.pause().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n');
  await expect.poll(() => connections.count).toBe(MAX);
  await Promise.all(
    unread.map((socket) =>
      once(
        socket.once('readable', () => {}),
        'readable',
      ),
    ),
  );

  const request = get({ host: '127.0.0.1', port, agent: false });
  const [response] = (await once(request, 'response')) as [IncomingMessage];

  expect((await text(response)).length).toBe(body.length);
});
