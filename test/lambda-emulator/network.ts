import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { connect, createServer } from 'node:net';
import { basename } from 'node:path';
import { textSetting } from '../../functions/shared/settings/environment.ts';
import { recordPart } from '../run/results.ts';

const INSIDE = 'DOCMILL_EMULATOR';
export const NAMESPACES = [
  '--user',
  '--map-root-user',
  '--net',
  '--mount',
  '--mount-proc',
  '--pid',
  '--fork',
  '--kill-child',
];

/**
 * Returns inside separate network and process namespaces. Outside of them, it first builds what needs a network, then
 * starts the program again inside, and exits with its code.
 */
export async function enterNamespaces(program: string): Promise<void> {
  if (textSetting(INSIDE, undefined) !== undefined) return prepareNetwork();
  const possible = spawnSync('unshare', [...NAMESPACES, 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  });
  if (possible.status !== 0) {
    const reason = 'needs user namespaces, util-linux and iproute2';
    process.stderr.write(`\n*** SKIPPED: ${reason}\n*** ${possible.stderr || possible.error}\n\n`);
    recordPart({ passed: 0, failed: [], skipped: [{ name: basename(program), reason }] });
    process.exit(0);
  }
  for (const script of ['../../infra/aws/build/build.ts', './prepare.ts']) {
    const { status } = spawnSync(process.execPath, [new URL(script, import.meta.url).pathname], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(1);
  }
  // The shell stays as the first process and collects orphans, as an init does.
  const first = ['sh', '-c', '"$@"; exit $?', 'init'];
  const args = [...NAMESPACES, ...first, process.execPath, program, ...process.argv.slice(2)];
  const again = spawn('unshare', args, { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } });
  const code = await new Promise<number | null>((resolve) => again.once('exit', resolve));
  process.exit(code ?? 1);
}

/** A network that looks public. In this network namespace nobody else uses it. */
const NETWORK = '5.6';

/** Prepares a new network namespace: the loopback, and a public-looking network that ends here. */
function prepareNetwork(): void {
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
