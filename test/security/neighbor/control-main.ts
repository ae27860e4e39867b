// The servers of a well-behaved account, in a process that no attack keeps busy: a name server that knows only names
// below its host, and many addresses of `*.many.test`, and a source that is never found. Direct requests to it show how busy the machine is.

import { serveDns } from '../../helpers/dns-server.ts';
import { serveHttp } from '../../helpers/fault-server.ts';

const [host] = process.argv.slice(2);
const dns = await serveDns((name) => (name.endsWith(host!) ? '127.0.0.1' : undefined), {
  // As many as fit into a reply.
  many: (name) => (name.endsWith('.many.test') ? 4000 : 0),
});
const source = await serveHttp((_request, response) => response.writeHead(404).end());
process.stdout.write(`${JSON.stringify({ dns: dns.address, port: source.port })}\n`);
// The row was killed.
process.stdin.resume().once('end', () => process.exit());
