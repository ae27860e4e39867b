import { spawn, spawnSync } from 'node:child_process';
import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Effort, Reached, Row } from '../row.ts';

/** A line of output from a row that runs in a network namespace. */
export type NamespaceMessage =
  | { readonly progress: readonly [done: number, total: number] }
  | { readonly reached: Reached; readonly inspected: number; readonly found: readonly string[] };

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const UNSHARE = ['--user', '--map-root-user', '--net', '--mount'];

/**
 * A network without connection to the outside, in which this machine owns every address, so that each connection
 * is counted. The link-local addresses of clouds and the name server are local too.
 */
export const SET_UP_NETWORK = `set -e
ip link set lo up
# Something that looks like a network: WebRTC does nothing on a machine that has loopback alone.
ip link add eth0 type veth peer name eth1
ip addr add 10.77.0.2/24 dev eth0
ip link set eth0 up
ip link set eth1 up
ip addr add 169.254.100.1/32 dev lo
ip addr add 169.254.169.254/32 dev lo
ip route add local 0.0.0.0/0 dev lo
ip -6 route add local ::/0 dev lo || true
mount --bind "$1" /etc/resolv.conf
shift
exec "$@"`;

/** Creates a row whose attack runs in its own network namespace. */
export function inOwnNamespace(row: Omit<Row, 'run' | 'inside'>, inside: NonNullable<Row['inside']>): Row {
  const whole: Row = { ...row, inside, run: (effort) => effort.deployment.inNamespace(whole, effort) };
  return whole;
}

/** Runs `inside` of a row in another process, which has its own network namespace. */
export async function runInNamespace({ name }: Row, effort: Effort): Promise<Reached> {
  const directory = await mkdtemp(join(tmpdir(), 'namespace-'));
  const resolver = join(directory, 'resolv.conf');
  writeFileSync(resolver, 'nameserver 127.0.0.1\n');
  const setUp = ['sh', '-c', SET_UP_NETWORK, 'set-up', resolver];
  try {
    if (spawnSync('unshare', [...UNSHARE, ...setUp, 'true']).status !== 0) {
      const skipped = 'this machine does not support network namespaces (unshare, ip, mount)';
      return { figure: 'not run', failures: [], skipped };
    }
    const args = [...UNSHARE, ...setUp, process.execPath, MAIN, name, effort.extent];
    return await listen(args, directory, effort);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function listen(args: readonly string[], directory: string, effort: Effort): Promise<Reached> {
  const env = { ...process.env, TMPDIR: directory };
  const child = spawn('unshare', args, { env, stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdio[3] as NodeJS.ReadableStream }).on('line', (line) => {
      const message = JSON.parse(line) as NamespaceMessage;
      if ('progress' in message) return effort.progress(...message.progress);
      effort.canary.add(message);
      resolve(message.reached);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The attack ended without a result: ${code}.`)));
  });
}

/** The response of the stand-ins, which must never appear in an output. */
export const MARKER = 'PRIZE-OF-THE-SERVICE';

/**
 * The secret on loopback and elsewhere, the Runtime API of Lambda, and ports that browsers and office suites use by
 * themselves.
 */
export const PRIZE_PORT = 8099;
export const RUNTIME_PORT = 9001;
const PORTS = [80, 443, 3128, 8080, PRIZE_PORT, RUNTIME_PORT];

interface Hits {
  /** Connections to any port of PORTS on any address. */
  readonly tcp: number;
  /** Datagrams sent by any process in the network namespace. */
  readonly udp: number;
  readonly dns: number;
  /** Connections to the stand-ins of the Runtime API. */
  readonly runtime: number;
}

export interface Tripwires {
  /** Hits so far. */
  hits(): Hits;
  /** Requests as `port method path`. */
  readonly asked: string[];
  close(): Promise<void>;
}

/** Listens on every address of the network namespace for connections that escape, except on ports that others watch. */
export async function layTripwires({ except = [] }: { except?: readonly number[] } = {}): Promise<Tripwires> {
  const asked: string[] = [];
  let tcp = 0;
  let runtime = 0;
  let dns = 0;
  const servers = PORTS.filter((port) => !except.includes(port)).map((port) => {
    const server = createServer((request, response) => {
      asked.push(`${port} ${request.method} ${request.url}`);
      response.writeHead(200, {
        'access-control-allow-origin': '*',
        'content-type': 'text/plain',
        'lambda-runtime-aws-request-id': MARKER,
      });
      response.end(MARKER);
    });
    server.on('connection', ({ localAddress }) => {
      tcp += 1;
      if (port === RUNTIME_PORT) runtime += 1;
      asked.push(`${port} connection to ${localAddress}`);
    });
    return server.listen(port, '::');
  });
  const names = createSocket('udp4').on('message', () => {
    dns += 1;
  });
  names.bind(53, '0.0.0.0');
  await Promise.all([...servers, names].map((each) => once(each, 'listening')));
  const before = datagrams();
  return {
    hits: () => ({ tcp, udp: datagrams() - before, dns, runtime }),
    asked,
    close: async () => {
      names.close();
      await Promise.all(servers.map(end));
    },
  };
}

function end(server: Server): Promise<void> {
  server.closeAllConnections();
  return new Promise((resolve) => server.close(() => resolve()));
}

/** Number of datagrams sent in this network namespace, from anywhere to anywhere. */
function datagrams(): number {
  const [names = [], values = []] = readFileSync('/proc/net/snmp', 'utf8')
    .split('\n')
    .filter((line) => line.startsWith('Udp: '))
    .map((line) => line.split(' '));
  const v6 = /^Udp6OutDatagrams\s+(\d+)/m.exec(readFileSync('/proc/net/snmp6', 'utf8'))?.[1];
  return Number(values[names.indexOf('OutDatagrams')]) + Number(v6 ?? 0);
}
