import { createSocket } from 'node:dgram';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';

/** The response of the stand-ins, which must never appear in an output. */
export const MARKER = 'PRIZE-OF-THE-SERVICE';

/**
 * The secret on loopback and elsewhere, the Runtime API of Lambda, and ports that browsers and office suites use by
 * themselves.
 */
export const PRIZE_PORT = 8099;
export const RUNTIME_PORT = 9001;
const PORTS = [80, 443, 3128, 8080, PRIZE_PORT, RUNTIME_PORT];

export interface Hits {
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
