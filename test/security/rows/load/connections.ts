import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { setTimeout } from 'node:timers/promises';
import { SAMPLES, serveSamples } from '../../../../infra/local/self-check/samples.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { MAX_DELAY } from '../../neighbor/heartbeat.ts';
import { type SharedService, withSharedService } from '../../neighbor/service.ts';
import { judge } from '../../neighbor/verdict.ts';
import { SHORT_FORM_DELAY } from '../../neighbor/watch.ts';
import type { Row } from '../../row.ts';

/** Timeout for the service to accept connections again, in milliseconds. */
const RECOVERY_TIME = 30_000;
/** For `ulimit -n`: low, so that a test machine can exhaust it. */
const DESCRIPTORS = 2048;

export const idleConnections: Row = {
  name: 'idle-connections',
  title: 'more idle connections than `ulimit -n`',
  figures: 'slowest request of another account; afterwards',
  target: `≤ ${MAX_DELAY} ms; served`,
  async run({ times }) {
    const settings = { sources: [], descriptors: DESCRIPTORS };
    const reached = await withSharedService(settings, async (service) => {
      await service.heartbeat.reset();
      const sockets: Socket[] = [];
      for (let opened = 0; opened < times(9000, 5000); opened += 1) {
        sockets.push(connect(service.port, '127.0.0.1').on('error', () => {}));
        // Half of them send the beginning of a request.
        if (opened % 2 === 0) sockets.at(-1)!.write('GET /api/ HTTP/1.1\r\n');
        if (opened % 100 === 0) await setTimeout(20);
      }
      await setTimeout(1000);
      for (const socket of sockets) socket.destroy();
      const verdict = await judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
      const failures = [...verdict.failures];
      const end = Date.now() + RECOVERY_TIME;
      const again = () => service.neighbor.ask({ app: 'nothing' }).catch(String);
      let after = await again();
      while (typeof after === 'string' && Date.now() < end) after = await again();
      if (typeof after === 'string' || after.status !== 400)
        failures.push(`afterwards: ${JSON.stringify(after)}`);
      if (service.process.exitCode !== null) failures.push('the service ended');
      return { ...verdict, figure: `${sockets.length} connections: ${verdict.figure}`, failures };
    });
    return reached;
  },
};

export const pipelined: Row = {
  name: 'pipelined',
  title: 'thousands of pipelined requests for a result that is not read',
  figures: 'most descriptors; slowest request of another account',
  target: `< ${DESCRIPTORS / 2}; ≤ ${MAX_DELAY} ms`,
  async run({ times }) {
    const samples = await serveSamples();
    const port = Number(new URL(`http://${samples.host}`).port);
    const settings = { sources: [port], descriptors: DESCRIPTORS };
    const reached = await withSharedService(settings, async (service) => {
      const sample = SAMPLES.find(({ tool }) => tool === 'imageproc')!;
      const infile = `http://127.0.0.1:${port}/${sample.infile}`;
      const query = { app: 'imageproc', infile, outfile: 'x.tiff', '-resize': '1500x1500!' };
      const { results, body } = await service.attacker.ask(query);
      if (results[0] === undefined) return { figure: 'no result', failures: [body.slice(0, 150)] };
      const { pathname, search } = new URL(results[0]);
      await service.heartbeat.reset();
      const request = `GET ${pathname}${search} HTTP/1.1\r\nHost: x\r\n\r\n`;
      const sockets = Array.from({ length: 4 }, () => open(service));
      for (const socket of sockets) socket.pause().write(request.repeat(times(5000, 3000)));
      let most = 0;
      for (let look = 0; look < 30; look += 1) {
        await setTimeout(100);
        most = Math.max(most, readdirSync(`/proc/${service.process.pid}/fd`).length);
      }
      for (const socket of sockets) socket.destroy();
      const verdict = await judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
      const tooMany = most < DESCRIPTORS / 2 ? [] : [`${most} descriptors`];
      const failures = [...verdict.failures, ...tooMany];
      return { ...verdict, figure: `${most}; ${verdict.figure}`, failures };
    });
    samples.close();
    return reached;
  },
};

export const identicalRequests: Row = {
  name: 'identical-requests',
  title: 'more identical slow requests than connections',
  figures: 'slowest request of another account',
  target: `≤ ${MAX_DELAY} ms, none failed`,
  async run({ times }) {
    const slow = await serveHttp((_request, response) => {
      response.writeHead(200, { 'content-type': 'image/png' });
      const dripping = setInterval(() => response.write('x'), 500);
      response.once('close', () => clearInterval(dripping));
    });
    const settings = { sources: [slow.port], descriptors: DESCRIPTORS };
    const reached = await withSharedService(settings, async (service) => {
      await service.heartbeat.reset();
      const query = new URLSearchParams({
        apikey: service.attacker.apiKey,
        app: 'imageproc',
        infile: `${slow.origin}/x`,
        outfile: 'x.png',
      });
      const sockets: Socket[] = [];
      for (let opened = 0; opened < 2000; opened += 1) {
        sockets.push(open(service));
        sockets.at(-1)!.write(`GET /api/?${query} HTTP/1.1\r\nHost: x\r\n\r\n`);
        if (opened % 100 === 0) await setTimeout(20);
      }
      await setTimeout(times(10_000, 5000));
      const beats = service.heartbeat.beats;
      await service.heartbeat.settle();
      for (const socket of sockets) socket.destroy();
      const verdict = await judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
      return { ...verdict, figure: `${verdict.figure}; ${beats} during the attack` };
    });
    await slow.close();
    return reached;
  },
};

function open({ port }: SharedService): Socket {
  return connect(port, '127.0.0.1').on('error', () => {});
}

/** Rows about the connections of the server. */
export const connectionRows: readonly Row[] = [idleConnections, pipelined, identicalRequests];
