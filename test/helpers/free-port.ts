import { randomInt } from 'node:crypto';
import { once } from 'node:events';
import { createServer } from 'node:net';

/** Below the ports that Linux gives to outgoing connections, and that listening on port 0 takes. */
const PORTS = [20_000, 32_000] as const;

/** Returns a port of 127.0.0.1 that nobody listens on, and that no other program gets by chance until it is used. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(...PORTS);
    const server = createServer().listen(port, '127.0.0.1');
    const isFree = await once(server, 'listening').then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
