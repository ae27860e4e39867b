import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { networkOf } from '../../../../functions/shared/egress/ip-address.ts';

/** The connections of a server. When there are too many, a new one replaces the least important one. */
export interface Connections {
  readonly count: number;
  /** Marks a request's connection as one that only sends a reply, which may be closed to make room. */
  markReply(request: IncomingMessage): void;
  /** Closes connections without a request in progress, including `unused` ones, which have not sent any yet. */
  closeIdle(which: { readonly unused: boolean }): void;
}

/** Maximum number of requests on a connection that wait for a response. Browsers and proxies send fewer. */
const MAX_PIPELINED = 2;

/**
 * Keeps at most `max` connections. To make room for a new one, it closes the connection that has been idle longest in
 * the network with the most idle ones, or else the one that has been sending a reply longest. If all others wait for conversions, it closes the
 * new one. So a caller with many idle connections can neither keep others out nor disconnect them. It also closes
 * connections with too many requests in progress, because each request could keep a file open.
 */
export function boundConnections(server: Server, max: number): Connections {
  const open = new Set<Socket>();
  /** Idle connections by network, in the order in which they became idle. */
  const idle = new Map<string, Set<Socket>>();
  /** Connections with replies that are being sent, in the order in which they started. */
  const replies = new Set<Socket>();
  const inProgress = new WeakMap<Socket, number>();
  const networks = new WeakMap<Socket, string>();

  function setIdle(socket: Socket): void {
    const network = networks.get(socket)!;
    idle.set(network, (idle.get(network) ?? new Set()).add(socket));
  }

  function setBusy(socket: Socket): void {
    const network = networks.get(socket)!;
    const sockets = idle.get(network);
    sockets?.delete(socket);
    if (sockets?.size === 0) idle.delete(network);
  }

  function forget(socket: Socket): void {
    setBusy(socket);
    open.delete(socket);
    replies.delete(socket);
  }

  /** Returns the connection that has been idle longest in the network with the most idle connections. */
  function leastImportant(): Socket | undefined {
    let largest: Set<Socket> | undefined;
    for (const sockets of idle.values()) if (sockets.size > (largest?.size ?? 0)) largest = sockets;
    return largest?.values().next().value;
  }

  server.on('connection', (socket: Socket) => {
    // The remote IP address is known only as long as the connection is open.
    networks.set(socket, networkOf(socket.remoteAddress ?? ''));
    const isFull = open.size >= max;
    const evicted = isFull && (leastImportant() ?? replies.values().next().value ?? socket);
    open.add(socket);
    setIdle(socket);
    socket.once('close', () => forget(socket));
    if (!evicted) return;
    forget(evicted);
    evicted.destroy();
  });

  server.on('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
    setBusy(socket);
    const requests = (inProgress.get(socket) ?? 0) + 1;
    inProgress.set(socket, requests);
    if (requests > MAX_PIPELINED) socket.destroy();
    response.once('close', () => {
      const left = inProgress.get(socket)! - 1;
      inProgress.set(socket, left);
      replies.delete(socket);
      if (left === 0 && open.has(socket)) setIdle(socket);
    });
  });

  return {
    get count() {
      return open.size;
    },
    markReply: ({ socket }) => void replies.add(socket),
    closeIdle: ({ unused }) => {
      for (const sockets of idle.values())
        for (const socket of sockets) if (unused || inProgress.has(socket)) socket.destroy();
    },
  };
}
