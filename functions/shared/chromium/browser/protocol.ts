import type { Readable, Writable } from 'node:stream';
import type { Connection, ConnectionTransport } from 'puppeteer-core';

/**
 * Connects to a browser over two pipes. Only the connection is used: puppeteer's own pages attach to each page a second
 * time and make a script world of their own in each document, an eighth of what a small page costs.
 */
export async function connectTo(output: Writable, input: Readable): Promise<Connection> {
  const transport = pipeTransport(output, input);
  // The library is read while the browser starts.
  const { connect } = await import('puppeteer-core');
  const browser = await connect({
    transport,
    defaultViewport: null,
    // Commands have no time of their own: conversions have.
    protocolTimeout: 0,
    targetFilter: (target) => target.type() === 'browser',
  });
  const session = await browser.target().createCDPSession();
  const connection = session.connection()!;
  await session.detach();
  // From here on puppeteer hears of no page.
  const still = { autoAttach: false, waitForDebuggerOnStart: false, flatten: true };
  await connection.send('Target.setAutoAttach', still);
  await connection.send('Target.setDiscoverTargets', { discover: false });
  return connection;
}

/** Speaks the debugging protocol: JSON messages, each ended by a zero byte. */
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
