import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { splice } from '../../../../../functions/engines/chromium/proxy/relay.ts';

const servers: { close(): unknown }[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

/** A client that takes each chunk only after a while, as a browser whose processor is busy. */
function slowClient() {
  const received: Buffer[] = [];
  const client = new Duplex({
    writableHighWaterMark: 65_536,
    read() {},
    write(chunk: Buffer, _encoding, done) {
      setTimeout(() => {
        received.push(chunk);
        done();
      }, 30);
    },
  });
  return { client, bytes: () => Buffer.concat(received).length };
}

/** Connects to a server that treats each of its connections as told. */
async function connectTo(treat: (socket: Socket) => void) {
  const server = createServer(treat);
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return connect((server.address() as AddressInfo).port, '127.0.0.1');
}

describe('splice', () => {
  it.each([100, 65_536, 300_000])('passes on all %i bytes of a server that ends at once', async (size) => {
    const { client, bytes } = slowClient();
    const server = await connectTo((socket) => void socket.end(Buffer.alloc(size)));
    const ended = new Promise((resolve) => client.on('finish', resolve).on('close', resolve));

    splice(client, server);
    await new Promise((resolve) => server.on('close', resolve));
    await ended;

    expect(bytes()).toBe(size);
  });

  it('closes the client of a server that breaks off', async () => {
    const { client } = slowClient();
    const server = await connectTo((socket) => socket.write('a', () => socket.resetAndDestroy()));
    server.on('error', () => server.destroy());
    const closed = new Promise((resolve) => client.on('close', resolve));

    splice(client, server);

    await closed;
  });

  it('closes a client that goes on sending after the server has ended', async () => {
    const ended = Promise.withResolvers<void>();
    const server = await connectTo((socket) => void socket.end('a').resume());
    server.once('close', ended.resolve);
    const client = Promise.withResolvers<Socket>();
    const browser = await connectTo((socket) => client.resolve(socket));
    browser.on('error', () => {}).resume();
    const accepted = await client.promise;
    accepted.on('error', () => accepted.destroy());
    const closed = new Promise((resolve) => accepted.once('close', resolve));

    splice(accepted, server);
    await ended.promise;
    browser.write('more');
    browser.end();

    await closed;
  });

  it('closes the server of a client that is gone', async () => {
    const { client } = slowClient();
    const gone = new Promise<void>((resolve) => {
      void connectTo((socket) => socket.resume().on('close', () => resolve())).then((server) => {
        splice(client, server);
        client.destroy();
      });
    });

    await gone;
  });
});
