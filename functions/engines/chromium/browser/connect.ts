import type { Readable, Writable } from 'node:stream';
import type { ConnectionTransport } from 'puppeteer-core';
// Imported alone, because compiling the whole package takes 40 ms.
import { Connection } from 'puppeteer-core/internal/cdp/Connection.js';

/** Commands need no timeout, because conversions have one. */
const NO_TIMEOUT = 0;

/**
 * Connects to a browser over two pipes. Only puppeteer's connection is used: its pages would attach to each page a second
 * time and add a script context to each document, an eighth of the cost of a small page.
 */
export async function connectTo(output: Writable, input: Readable): Promise<Connection> {
  const transport = pipeTransport(output, input);
  const connection = new Connection('', transport, 0, NO_TIMEOUT, false, undefined, () => undefined);
  // The browser responds once it runs.
  await connection.send('Browser.getVersion');
  // Reports the pages whose process ends; see `openSession`.
  await connection.send('Target.setDiscoverTargets', { discover: true, filter: [{ type: 'page' }] });
  return connection;
}

/** Transports the debugging protocol: JSON messages, each followed by a zero byte. */
function pipeTransport(output: Writable, input: Readable): ConnectionTransport {
  let rest: Buffer[] = [];
  const transport: ConnectionTransport = {
    send: (message) => output.write(`${message}\0`),
    close: () => output.end(),
  };
  output.on('error', () => {});
  input.on('error', () => {});
  input.on('close', () => transport.onclose?.());
  input.on('data', (chunk: Buffer) => {
    let start = 0;
    for (let end = chunk.indexOf(0); end >= 0; end = chunk.indexOf(0, start)) {
      const message = Buffer.concat([...rest, chunk.subarray(start, end)]).toString();
      rest = [];
      start = end + 1;
      transport.onmessage?.(message);
    }
    if (start < chunk.length) rest.push(chunk.subarray(start));
  });
  return transport;
}
