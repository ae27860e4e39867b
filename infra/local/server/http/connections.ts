import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

/** The connections of a server. When there are too many, a new one replaces the least important one. */
export interface Connections {
  readonly count: number;
  /** Marks a request's connection as a download of a result, which may be interrupted to make room. */
  markDownload(request: IncomingMessage): void;
  /** Closes connections without a request. */
  closeIdle(): void;
}

/** Maximum number of requests on a connection that wait for a response: more than browsers and proxies send. */
const MAX_PIPELINED = 2;

/**
 * Keeps at most `max` connections. For a new one it closes the one that has been idle longest, or else the oldest download;
 * if all others wait for conversions, it closes the new one. So a caller who opens connections and leaves them idle cannot
 * keep others out. It also closes a connection with too many requests in progress: each could keep a file open.
 */
export function boundConnections(server: Server, max: number): Connections {
  const open = new Set<Socket>();
  // In the order in which they became idle, or started.
  const idle = new Set<Socket>();
  const downloads = new Set<Socket>();
  const inProgress = new WeakMap<Socket, number>();

  server.on('connection', (socket: Socket) => {
    open.add(socket);
    idle.add(socket);
    socket.once('close', () => {
      for (const set of [open, idle, downloads]) set.delete(socket);
    });
    if (open.size <= max) return;
    // The new connection is idle too, and comes last.
    const [first] = idle;
    const [download] = downloads;
    const evicted = (first === socket ? download : first) ?? socket;
    for (const set of [open, idle, downloads]) set.delete(evicted);
    evicted.destroy();
  });

  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    idle.delete(socket);
    const requests = (inProgress.get(socket) ?? 0) + 1;
    inProgress.set(socket, requests);
    if (requests > MAX_PIPELINED) socket.destroy();
    response.once('close', () => {
      const left = inProgress.get(socket)! - 1;
      inProgress.set(socket, left);
      downloads.delete(socket);
      if (left === 0 && open.has(socket)) idle.add(socket);
    });
  });

  return {
    get count() {
      return open.size;
    },
    markDownload: ({ socket }) => void downloads.add(socket),
    closeIdle: () => {
      for (const socket of idle) socket.destroy();
    },
  };
}
