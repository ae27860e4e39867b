import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A loopback port that a browser context can be given before it is known where it leads. */
export interface Relay {
  readonly port: number;
  /** Opens the way to a proxy on 127.0.0.1; until then every connection is closed. */
  lead(proxyPort: number): void;
  /** Breaks every connection, and those that are opened to try again. */
  cut(): void;
  close(): void;
}

/** Milliseconds in which the browser tries again what it sent over a connection that had been used before. */
const CUT_TIME = 200;

/** Starts a relay that leads nowhere yet: a page made ahead of need reaches nothing. */
export async function startRelay(): Promise<Relay> {
  let target: number | undefined;
  let cutUntil = 0;
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  const server = createServer((client) => {
    track(client);
    if (target === undefined || performance.now() < cutUntil) return void client.destroy();
    const proxy = connect(target, '127.0.0.1');
    track(proxy);
    client.pipe(proxy).pipe(client);
    client.on('close', () => proxy.destroy());
    proxy.on('close', () => client.destroy());
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    lead: (proxyPort) => {
      target = proxyPort;
    },
    cut: () => {
      cutUntil = performance.now() + CUT_TIME;
      for (const socket of sockets) socket.destroy();
    },
    close: () => {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
