import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import type { SharedService } from '../../neighbor/service.ts';
import { MAX_DELAY } from '../../neighbor/verdict.ts';
import type { Row } from '../../row.ts';
import { neighborRow } from './neighbor-row.ts';

/** Timeout for the service to accept connections again, in milliseconds. */
const RECOVERY_TIME = 30_000;
/** For `ulimit -n`: low, so that a test machine can exhaust it. */
const DESCRIPTORS = 2048;
const settings = { descriptors: DESCRIPTORS };

const idleConnections = neighborRow({
  name: 'idle-connections',
  title: 'more idle connections than `ulimit -n`',
  figures: 'slowest request of another account; afterwards',
  target: `≤ ${MAX_DELAY} ms; served`,
  settings,
  async attack(service) {
    // Half of them send the beginning of a request.
    const sockets = await openMany(service, 9000, (index) =>
      index % 2 === 0 ? 'GET /api/ HTTP/1.1\r\n' : '',
    );
    await setTimeout(1000);
    for (const socket of sockets) socket.destroy();
    const end = Date.now() + RECOVERY_TIME;
    const again = () => service.neighbor.ask({ app: 'nothing' }).catch(String);
    let after = await again();
    while (typeof after === 'string' && Date.now() < end) after = await again();
    const isServed = typeof after !== 'string' && after.status === 400;
    return {
      figure: `${sockets.length} connections`,
      failures: [
        ...(isServed ? [] : [`afterwards: ${JSON.stringify(after)}`]),
        ...(service.process.exitCode === null ? [] : ['the service ended']),
      ],
    };
  },
});

const pipelined = neighborRow({
  name: 'pipelined',
  title: 'thousands of pipelined requests for a result that is not read',
  figures: 'most descriptors; slowest request of another account',
  target: `< ${DESCRIPTORS / 2}; ≤ ${MAX_DELAY} ms`,
  settings,
  async attack(service, origin) {
    const query = { app: 'imageproc', infile: `${origin}/`, outfile: 'x.tiff', '-resize': '1500x1500!' };
    const { results, body } = await service.attacker.ask(query);
    if (results[0] === undefined) return { failures: [body.slice(0, 150)] };
    const { pathname, search } = new URL(results[0]);
    const request = `GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const sockets = await openMany(service, 4, () => request.repeat(5000));
    let most = 0;
    for (let look = 0; look < 30; look += 1) {
      await setTimeout(100);
      most = Math.max(most, descriptorsOf(service));
    }
    for (const socket of sockets) socket.destroy();
    return { figure: `${most}`, failures: most < DESCRIPTORS / 2 ? [] : [`${most} descriptors`] };
  },
});

const identicalRequests = neighborRow({
  name: 'identical-requests',
  title: 'more identical slow requests than connections',
  source: (_request, response) => {
    response.writeHead(200, { 'content-type': 'image/png' });
    const dripping = setInterval(() => response.write('x'), 500);
    response.once('close', () => clearInterval(dripping));
  },
  settings,
  async attack(service, origin) {
    const { apiKey: apikey } = service.attacker;
    const query = new URLSearchParams({ apikey, app: 'imageproc', infile: `${origin}/x`, outfile: 'x.png' });
    const request = `GET /api/?${query} HTTP/1.1\r\nHost: x\r\n\r\n`;
    const sockets = await openMany(service, 2000, () => request);
    await setTimeout(10_000);
    const { length } = service.heartbeat.beats;
    await service.heartbeat.settle();
    for (const socket of sockets) socket.destroy();
    return { figure: `${length} during the attack` };
  },
});

const UPLOADS = 200;
/** Announced size of each upload in bytes. It is larger than an upload can send before its timeout. */
const ANNOUNCED = 1_000_000;
/** Seconds after which the service has given up every upload: its own limit is 120. */
const WHOLE = 130;
/** Timeout for the service to clean up after disconnected callers, in milliseconds. */
const CLEANUP = 2000;
/** Descriptors that a service may have opened meanwhile for something else. */
const SPARE = 20;

const slowUploads = neighborRow({
  name: 'slow-uploads',
  title: '200 uploads at one byte a second',
  figures: 'ended by the service; files and descriptors left; slowest request of another account',
  target: `all or cut off; 0; ≤ ${MAX_DELAY} ms`,
  async attack(service) {
    const before = descriptorsOf(service);
    const replies: string[] = [];
    const sockets = await openMany(service, UPLOADS, (index) => uploadHead(index, service.attacker.apiKey));
    for (const socket of sockets) {
      let reply = '';
      socket.setEncoding('utf8').on('data', (text: string) => {
        reply += text;
        if (!/\([A-Z_]+\)$/.test(reply)) return;
        replies.push(reply);
        socket.destroy();
      });
    }
    for (let second = 0; second < WHOLE && replies.length < UPLOADS; second++) {
      for (const socket of sockets) if (socket.writable) socket.write('x');
      await setTimeout(1000);
    }
    for (const socket of sockets) socket.destroy();
    await setTimeout(CLEANUP);
    const left = uploadsIn(service);
    const descriptors = Math.max(0, descriptorsOf(service) - before - SPARE);
    const untyped = replies.filter((reply) => !/\((SOURCE_TIMEOUT|OVERLOADED|RATE_LIMITED)\)$/.test(reply));
    return {
      figure: `${replies.length} of ${UPLOADS}; ${left.length} and ${descriptors}`,
      failures: [
        ...untyped.map((reply) => `an upload ended with ${reply.slice(-200)}`),
        ...left.map((path) => `${path} was left`),
        ...(descriptors > 0 ? [`${descriptors} descriptors were left`] : []),
        ...(replies.length < UPLOADS ? [`only ${replies.length} uploads were ended`] : []),
      ],
    };
  },
});

/** Begins an upload: a third are multipart forms, whose file is preceded by its parameters. */
function uploadHead(index: number, apiKey: string): string {
  const isForm = index % 3 === 0;
  const type = isForm ? 'multipart/form-data; boundary=b' : 'image/png';
  const head = `POST /api/?app=imageproc&outfile=a.jpg HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${apiKey}\r\nContent-Type: ${type}\r\nContent-Length: ${ANNOUNCED}\r\n\r\n`;
  const part = '--b\r\nContent-Disposition: form-data; name=infile; filename=a.png\r\n\r\n';
  return isForm ? head + part : head;
}

/** Opens connections, 100 at a time, and sends a text on each. */
async function openMany(
  { port }: SharedService,
  count: number,
  textOf: (index: number) => string,
): Promise<Socket[]> {
  const sockets: Socket[] = [];
  for (let opened = 0; opened < count; opened += 1) {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    socket.write(textOf(opened));
    sockets.push(socket);
    if (opened % 100 === 0) await setTimeout(20);
  }
  return sockets;
}

function descriptorsOf({ process: { pid } }: SharedService): number {
  return readdirSync(`/proc/${pid}/fd`).length;
}

/** The files of the attacker's uploads, complete or not. */
function uploadsIn({ temporary }: SharedService): string[] {
  return readdirSync(join(temporary, 'data'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && entry.parentPath.includes('uploads'))
    .map(({ parentPath, name }) => join(parentPath, name));
}

/** Rows about the connections of the server. */
export const connectionRows: readonly Row[] = [idleConnections, pipelined, identicalRequests, slowUploads];
