import type { Duplex } from 'node:stream';

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
