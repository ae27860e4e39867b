import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';

const FORM = ['Content-Type: application/x-www-form-urlencoded', 'Content-Length: 1'];
/** About as long as a head may be. */
const LONG_QUERY = Array.from({ length: 10_000 }, (_, index) => `${index.toString(36)}`).join('&');
/** Files of one call, each of which fits into the buffers of its streams. */
const SMALL_FILES = 200;
const SMALL_FILE = 180_000;

const part = (name: string, fileName: string, content = '') =>
  `--b\r\nContent-Disposition: form-data; name="${name}"; filename="${fileName}"\r\n\r\n${content}`;

/** Opens requests without a key whose queries are long and whose bodies never arrive, 50 at a time. */
export async function postLongQueries(port: number, count: number): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let opened = 0; opened < count; opened++) {
    sockets.push(post(port, `/api/?${LONG_QUERY}`, FORM));
    if (opened % 50 === 0) await setTimeout(20);
  }
  return sockets;
}

/**
 * Opens calls of one account that use up its uploads, by files that never end, and then calls that wait for theirs and send many small
 * files meanwhile.
 */
export function postWaitingFiles(port: number, apiKey: string, count: number): Socket[] {
  const path = `/api/?app=html2pdf&outfile=a.pdf&apikey=${apiKey}`;
  const headers = ['Content-Type: multipart/form-data; boundary=b', 'Transfer-Encoding: chunked'];
  const send = (content: string) => {
    const socket = post(port, path, headers);
    socket.write(`${content.length.toString(16)}\r\n${content}\r\n`);
    return socket;
  };
  const files = Array.from({ length: SMALL_FILES }, (_, index) =>
    part('asset', `${index}.txt`, `${'x'.repeat(SMALL_FILE)}\r\n`),
  );
  return [
    ...Array.from({ length: 16 }, () => send(part('infile', 'a.html', 'x'.repeat(100)))),
    ...Array.from({ length: count }, () => send(files.join(''))),
  ];
}

function post(port: number, path: string, headers: readonly string[]): Socket {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.resume();
  socket.write(`POST ${path} HTTP/1.1\r\nHost: a\r\n${headers.join('\r\n')}\r\n\r\n`);
  return socket;
}
