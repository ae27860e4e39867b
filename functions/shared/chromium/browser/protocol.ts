import type { Readable, Writable } from 'node:stream';
import type { Connection, ConnectionTransport } from 'puppeteer-core';

/**
 * Connects to a browser over two pipes. Only puppeteer's connection is used: its pages would attach to each page a second
 * time and add a script context to each document, an eighth of the cost of a small page.
 */
export async function connectTo(output: Writable, input: Readable): Promise<Connection> {
  const transport = pipeTransport(output, input);
  // Imported while the browser starts.
  const { connect } = await import('puppeteer-core');
  const browser = await connect({
    transport,
    defaultViewport: null,
    // Conversions have a timeout, so commands need none.
    protocolTimeout: 0,
    targetFilter: (target) => target.type() === 'browser',
  });
  const session = await browser.target().createCDPSession();
  const connection = session.connection()!;
  await session.detach();
  // From here on, puppeteer does not track pages.
  const still = { autoAttach: false, waitForDebuggerOnStart: false, flatten: true };
  await connection.send('Target.setAutoAttach', still);
  await connection.send('Target.setDiscoverTargets', { discover: false });
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
