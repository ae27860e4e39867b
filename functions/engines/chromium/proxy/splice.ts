import type { Duplex } from 'node:stream';

/**
 * Passes everything on between a client and a server. A client still receives what is on its way to it once the
 * server has ended; a server is closed as soon as its client is gone.
 */
export function splice(client: Duplex, server: Duplex): void {
  client.pipe(server).pipe(client);
  client.on('close', () => server.destroy());
  server.on('close', () => {
    // Where the server has ended, `pipe` ends the client after its last bytes. What it still sends would keep it open.
    if (server.readableEnded) client.resume();
    else client.destroy();
  });
}
