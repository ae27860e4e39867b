import { type AddressInfo, connect, createServer, type Socket } from 'node:net';

/** A loopback port for a browser context whose proxy is not known yet. */
export interface Relay {
  readonly port: number;
  /** Connects to a proxy on 127.0.0.1. Until then, every connection is closed. */
  lead(proxyPort: number): void;
  /** Closes every connection, and those of immediate retries. */
  cut(): void;
  close(): void;
}

/** Milliseconds in which the browser retries requests of connections that had been reused. */
const CUT_TIME = 200;

/** Starts a relay without a target, so that a pre-opened page reaches nothing. */
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
