import { createSocket } from 'node:dgram';
import { Resolver } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';

export interface DnsServer {
  /** `127.0.0.1:port`. */
  readonly address: string;
  /** Looks up all addresses of a name on this server, as the guard does. */
  resolve(host: string): Promise<string[]>;
  /** Number of queries for IPv4 addresses so far. */
  questions(): number;
  close(): void;
}

const ADDRESS_V4 = 1;

/**
 * Starts a real DNS server on loopback. `answer` returns the IPv4 address for the n-th query (from 0) for a name.
 * It ignores queries for names for which `answer` returns `undefined`. Names for which `many` returns a number have as many
 * private addresses, over TCP.
 */
export async function serveDns(
  answer: (name: string, asked: number) => string | undefined,
  { port: own = 0, many = () => 0 }: { port?: number; many?: (name: string) => number } = {},
): Promise<DnsServer> {
  const asked = new Map<string, number>();
  /** A busy machine responds late, and clients retry. A retry is the same query. */
  const known = new Map<string, string | undefined>();
  const socket = createSocket('udp4');
  socket.on('message', (question, { port, address }) => {
    const { name, type, end } = readQuestion(question);
    if (many(name) > 0) return socket.send(reply(question, end, 0x8380, []), port, address);
    const count = asked.get(name) ?? 0;
    const key = `${port} ${question.readUInt16BE(0)} ${type} ${name}`;
    const isNew = !known.has(key);
    if (isNew && type === ADDRESS_V4) asked.set(name, count + 1);
    const found = isNew ? answer(name, count) : known.get(key);
    known.set(key, found);
    if (found === undefined) return;
    socket.send(reply(question, end, 0x8180, type === ADDRESS_V4 ? [found] : []), port, address);
  });
  socket.bind(own, '127.0.0.1');
  await once(socket, 'listening');
  const overTcp = createServer((client) => {
    client.on('error', () => {});
    client.on('data', (data) => {
      const question = data.subarray(2);
      if (question.length < 13) return client.destroy();
      const { name, type, end } = readQuestion(question);
      const length = type === ADDRESS_V4 ? many(name) : 0;
      const found = Array.from({ length }, (_, index) => `10.0.${index >> 8}.${index & 255}`);
      const answer = reply(question, end, 0x8180, found);
      const size = Buffer.alloc(2);
      size.writeUInt16BE(answer.length);
      client.write(Buffer.concat([size, answer]));
    });
  });
  overTcp.listen(socket.address().port, '127.0.0.1');

  // Asks only once, because rows count the queries and a busy machine may be slow.
  const resolver = new Resolver({ timeout: 10_000, tries: 1 });
  resolver.setServers([`127.0.0.1:${socket.address().port}`]);
  return {
    address: `127.0.0.1:${socket.address().port}`,
    resolve: (host) => resolver.resolve4(host),
    questions: () => [...asked.values()].reduce((sum, count) => sum + count, 0),
    close: () => {
      socket.close();
      overTcp.close();
    },
  };
}

function readQuestion(message: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = [];
  let place = 12;
  for (let length = message[place]!; length > 0; length = message[place]!) {
    labels.push(message.toString('latin1', place + 1, place + 1 + length));
    place += 1 + length;
  }
  return { name: labels.join('.').toLowerCase(), type: message.readUInt16BE(place + 1), end: place + 5 };
}

/** A reply with flags such as `0x8180`: recursion available, no error. `0x0200` means that it is truncated. */
function reply(question: Buffer, end: number, flags: number, addresses: readonly string[]): Buffer {
  const head = Buffer.from(question.subarray(0, end));
  head.writeUInt16BE(flags, 2);
  // One question, and no records but the answers.
  for (const [place, records] of [1, addresses.length, 0, 0].entries())
    head.writeUInt16BE(records, 4 + 2 * place);
  return Buffer.concat([head, ...addresses.map(record)]);
}

/** One address record for the name in the query, with a TTL of 0. */
function record(address: string): Buffer {
  const bytes = address.split('.').map(Number);
  return Buffer.from([0xc0, 12, 0, ADDRESS_V4, 0, 1, 0, 0, 0, 0, 0, 4, ...bytes]);
}
