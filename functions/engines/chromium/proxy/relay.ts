import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Duplex } from 'node:stream';

/** A loopback port for a browser context whose proxy is not known yet. */
export type Relay = Awaited<ReturnType<typeof startRelay>>;

interface Port {
  readonly port: number;
  /** Handles a connection. */
  accept: (client: Socket) => void;
}

/** How long to wait for the browser's retries on connections that had been reused, in milliseconds. */
const CUT_TIME = 200;
/** Exceeds the number of contexts that are open at the same time: one in use, some pre-opened, some being closed. */
const PORTS = 12;

/** Free ports, the longest unused first. */
const free: Port[] = [];
const waiting: ((port: Port) => void)[] = [];

/** Opens the ports that relays use in turn, and returns them. The browser's sandbox allows no others. */
export async function reserveRelays(): Promise<readonly number[]> {
  const ports = await Promise.all(Array.from({ length: PORTS }, openPort));
  free.push(...ports);
  return ports.map(({ port }) => port);
}

/** Starts a relay without a target on a reserved port, so that a pre-opened page reaches nothing. */
export async function startRelay() {
  const own = free.shift() ?? (await new Promise<Port>((resolve) => waiting.push(resolve)));
  let target: number | undefined;
  let cutUntil = 0;
  const sockets = new Set<Socket>();
  const track = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => socket.destroy());
    socket.on('close', () => sockets.delete(socket));
  };
  own.accept = (client) => {
    track(client);
    if (target === undefined || performance.now() < cutUntil) return void client.destroy();
    const proxy = connect(target, '127.0.0.1');
    track(proxy);
    splice(client, proxy);
  };
  return {
    port: own.port,
    /** Connects to a proxy on 127.0.0.1. Earlier connections are closed. */
    lead: (proxyPort: number) => {
      target = proxyPort;
      for (const socket of sockets) socket.destroy();
    },
    /** Closes every connection, including the connections of immediate retries. */
    cut: () => {
      cutUntil = performance.now() + CUT_TIME;
      for (const socket of sockets) socket.destroy();
    },
    /** Closes every connection, and from now on each new one. */
    close: () => {
      own.accept = refuse;
      for (const socket of sockets) socket.destroy();
    },
    /** Releases the port for another context, once nothing uses it any more. */
    release: () => {
      const next = waiting.shift();
      if (next) next(own);
      else free.push(own);
    },
  };
}

async function openPort(): Promise<Port> {
  const server = createServer((client) => port.accept(client));
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(0, '127.0.0.1', resolve);
  });
  const port: Port = { port: (server.address() as AddressInfo).port, accept: refuse };
  return port;
}

function refuse(client: Socket): void {
  client.on('error', () => {}).destroy();
}

/**
 * Forwards everything between a client and a server. After the server has ended, the client still receives the data
 * in transit. A server connection is closed as soon as its client is gone.
 */
export function splice(client: Duplex, server: Duplex): void {
  client.pipe(server).pipe(client);
  client.on('close', () => server.destroy());
  server.on('close', () => {
    // After the server has ended, `pipe` ends the client once the last bytes are sent. Unread data from the client
    // would keep it open.
    if (server.readableEnded) client.resume();
    else client.destroy();
  });
}
