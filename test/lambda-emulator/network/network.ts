import { execFileSync } from 'node:child_process';
import { connect, createServer } from 'node:net';

/** A network that looks public. In this network namespace nobody else uses it. */
const NETWORK = '5.6';

/** Prepares a new network namespace: the loopback, and a public-looking network that ends here. */
export function prepareNetwork(): void {
  execFileSync('ip', ['link', 'set', 'lo', 'up']);
  // Not an address of an interface, so the egress guard's rule against the machine's own addresses does not apply.
  execFileSync('ip', ['route', 'add', 'local', `${NETWORK}.0.0/16`, 'dev', 'lo']);
}

/** Returns the public-looking URL, on port 80, of a server on a loopback port. The last two numbers encode the port. */
export function publicAddress(port: number): string {
  return `http://${NETWORK}.${port >> 8}.${port & 255}`;
}

/** Forwards every public-looking address to the loopback port that it encodes, and reports connections to others. */
export async function startForwarding(
  onUnexpected: (address: string) => void = () => {},
): Promise<() => void> {
  const server = createServer((socket) => {
    const address = (socket.localAddress ?? '').replace('::ffff:', '');
    if (!address.startsWith(`${NETWORK}.`)) {
      onUnexpected(address);
      return void socket.destroy();
    }
    const [, , high, low] = address.split('.').map(Number);
    const target = connect(256 * high! + low!, '127.0.0.1');
    socket.pipe(target).pipe(socket);
    socket.on('error', () => target.destroy());
    target.on('error', () => socket.resetAndDestroy());
    socket.on('close', () => target.destroy());
  });
  await new Promise<void>((resolve) => server.listen(80, '::', resolve));
  return () => server.close();
}
