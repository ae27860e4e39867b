import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net';

/** A server on a free port of 127.0.0.1. */
export interface Listening {
  readonly port: number;
  readonly origin: string;
  /** Connections so far. */
  connections(): number;
  close(): Promise<void>;
}

/** Starts a server that speaks HTTP. */
export function serveHttp(
  answer: (request: IncomingMessage, response: ServerResponse) => void,
  host = '127.0.0.1',
): Promise<Listening> {
  return listen(createHttpServer(answer), host);
}

/** Starts a server that speaks HTTPS. */
export async function serveTls(
  options: ServerOptions,
  answer: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<Listening> {
  const server = await listen(createTlsServer(options, answer));
  return { ...server, origin: server.origin.replace('http', 'https') };
}

/** Starts a server that gets raw sockets, for responses that no HTTP library would send. */
export function serveRaw(answer: (socket: Socket) => void): Promise<Listening> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    answer(socket);
  });
  return listen(server);
}

async function listen(server: Server, host = '127.0.0.1'): Promise<Listening> {
  const sockets = new Set<Socket>();
  let connections = 0;
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, host, resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    origin: `http://127.0.0.1:${port}`,
    connections: () => connections,
    close: () => {
      for (const socket of sockets) socket.destroy();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

const HEAD = 'HTTP/1.1 200 OK\r\nContent-Type: application/pdf\r\n';

/** Faults of sources, with the bytes that they send on a new connection. Every one must end in a typed error. */
export const RAW_FAULTS: Readonly<Record<string, { code: string; answer(socket: Socket): void }>> = {
  'closes at once': { code: 'SOURCE_UNREACHABLE', answer: (socket) => socket.destroy() },
  'resets at once': { code: 'SOURCE_UNREACHABLE', answer: (socket) => socket.resetAndDestroy() },
  'closes after the request': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => socket.once('data', () => socket.end()),
  },
  'says nothing': { code: 'SOURCE_TIMEOUT', answer: () => {} },
  'sends headers one byte at a time': {
    code: 'SOURCE_TIMEOUT',
    answer: (socket) => drip(socket, `${HEAD}${'X-Slow: yes\r\n'.repeat(1000)}`),
  },
  'stops inside the headers': { code: 'SOURCE_TIMEOUT', answer: (socket) => socket.write(HEAD) },
  'sends headers without end': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => flood(socket, HEAD, `X-More: ${'a'.repeat(1000)}\r\n`),
  },
  'sends one endless header line': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => flood(socket, 'HTTP/1.1 200 OK\r\nX-Long: ', 'a'.repeat(1000)),
  },
  'answers 100 and nothing else': {
    code: 'SOURCE_TIMEOUT',
    answer: (socket) => socket.write('HTTP/1.1 100 Continue\r\n\r\n'),
  },
  'answers 100 forever': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => drip(socket, 'HTTP/1.1 100 Continue\r\n\r\n'.repeat(1000), 25),
  },
  'answers 103 as fast as it can': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => flood(socket, '', 'HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n'.repeat(1000)),
  },
  'speaks another protocol': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => socket.end('SSH-2.0-OpenSSH_9.6\r\n'),
  },
  'speaks HTTP/0.9': { code: 'SOURCE_UNREACHABLE', answer: (socket) => socket.end('<html>hello</html>') },
  'switches protocols': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) =>
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n'),
  },
  'sends less than it announced': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => socket.end(`${HEAD}Content-Length: 1000\r\n\r\nshort`),
  },
  'announces more than is taken': {
    code: 'SOURCE_TOO_LARGE',
    answer: (socket) => socket.write(`${HEAD}Content-Length: 999999999999\r\n\r\n`),
  },
  'announces a negative length': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => socket.end(`${HEAD}Content-Length: -1\r\n\r\nbody`),
  },
  'announces two lengths': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => socket.end(`${HEAD}Content-Length: 4\r\nContent-Length: 5\r\n\r\nbody!`),
  },
  'announces a length and chunks': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) =>
      socket.end(`${HEAD}Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n`),
  },
  'breaks a chunk': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => socket.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\nzz\r\nbody\r\n`),
  },
  'leaves out the last chunk': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => socket.end(`${HEAD}Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n`),
  },
  'stops inside the body': {
    code: 'SOURCE_TIMEOUT',
    answer: (socket) => socket.write(`${HEAD}Content-Length: 1000\r\n\r\nshort`),
  },
  'sends the body one byte at a time': {
    code: 'SOURCE_TIMEOUT',
    answer: (socket) => drip(socket, `${HEAD}Content-Length: 100000\r\n\r\n${'a'.repeat(100_000)}`, 20),
  },
  'sends a body without end': {
    code: 'SOURCE_TOO_LARGE',
    answer: (socket) => flood(socket, `${HEAD}\r\n`, 'a'.repeat(10_000)),
  },
  'sends chunks without end': {
    code: 'SOURCE_TOO_LARGE',
    answer: (socket) =>
      flood(socket, `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, `2710\r\n${'a'.repeat(10_000)}\r\n`),
  },
  'sends one byte in each chunk': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => flood(socket, `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, '1\r\nx\r\n'.repeat(5000)),
  },
  'sends a word in each chunk': {
    code: 'SOURCE_TOO_LARGE',
    answer: (socket) =>
      flood(socket, `${HEAD}Transfer-Encoding: chunked\r\n\r\n`, `11\r\n${'a'.repeat(17)}\r\n`.repeat(2000)),
  },
  'adds trailers without end': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) =>
      flood(
        socket,
        `${HEAD}Transfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n`,
        'X-More: yes\r\n'.repeat(1000),
      ),
  },
  'extends a chunk without end': {
    code: 'SOURCE_UNREACHABLE',
    answer: (socket) => flood(socket, `${HEAD}Transfer-Encoding: chunked\r\n\r\n4;a=`, 'b'.repeat(10_000)),
  },
  'speaks HTTP/2 only': {
    code: 'SOURCE_UNREACHABLE',
    // An empty SETTINGS frame.
    answer: (socket) => socket.write(Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0])),
  },
  'sends nothing as its body': {
    code: 'CORRUPT_SOURCE',
    answer: (socket) => socket.end(`${HEAD}Content-Length: 0\r\n\r\n`),
  },
  'calls plain text gzip': {
    code: 'CORRUPT_SOURCE',
    answer: (socket) => socket.end(`${HEAD}Content-Encoding: gzip\r\nContent-Length: 5\r\n\r\nplain`),
  },
  'names an encoding nobody knows': {
    code: 'UNSUPPORTED_SOURCE',
    answer: (socket) => socket.end(`${HEAD}Content-Encoding: rot13\r\nContent-Length: 5\r\n\r\nplain`),
  },
  'piles up encodings': {
    code: 'UNSUPPORTED_SOURCE',
    answer: (socket) => socket.end(`${HEAD}Content-Encoding: gzip, gzip, gzip, gzip\r\n\r\nplain`),
  },
};

/** Sends a text slowly: `step` characters every 20 ms. */
function drip(socket: Socket, text: string, step = 1): void {
  let sent = 0;
  const timer = setInterval(() => {
    socket.write(text.slice(sent, sent + step));
    sent += step;
  }, 20);
  socket.on('close', () => clearInterval(timer));
}

/** Sends a piece repeatedly, as fast as it is read. */
export function flood(socket: Socket, head: string, piece: string): void {
  socket.write(head);
  const more = () => {
    while (!socket.destroyed && socket.write(piece));
  };
  socket.on('drain', more);
  more();
}
