import { readdirSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { MAX_DELAY } from '../../neighbor/heartbeat.ts';
import { type SharedService, withSharedService } from '../../neighbor/service.ts';
import { judge } from '../../neighbor/verdict.ts';
import { SHORT_FORM_DELAY } from '../../neighbor/watch.ts';
import type { Row } from '../../row.ts';

const UPLOADS = 200;
/** Announced size of each upload in bytes. It is larger than an upload can send before its timeout. */
const ANNOUNCED = 1_000_000;
/** Seconds after which the service has given up every upload: its own limit is 120. */
const WHOLE = 130;
/** Timeout for the service to clean up after disconnected callers, in milliseconds. */
const CLEANUP = 2000;
/** Descriptors that a service may have opened meanwhile for something else. */
const SPARE = 20;

export const slowUploads: Row = {
  name: 'slow-uploads',
  title: '200 uploads at one byte a second',
  figures: 'ended by the service; files and descriptors left; slowest request of another account',
  target: `all or cut off; 0; ≤ ${MAX_DELAY} ms`,
  run: ({ times }) =>
    withSharedService({ sources: [] }, async (service) => {
      await service.heartbeat.reset();
      const before = descriptorsOf(service);
      const replies: string[] = [];
      const sockets = Array.from({ length: UPLOADS }, (_, index) => begin(service, index, replies));
      const seconds = times(WHOLE, 4);
      for (let second = 0; second < seconds && replies.length < UPLOADS; second++) {
        for (const socket of sockets) if (socket.writable) socket.write('x');
        await setTimeout(1000);
      }
      const isWhole = seconds === WHOLE;
      for (const socket of sockets) socket.destroy();
      await setTimeout(CLEANUP);
      const left = uploadsIn(service);
      const descriptors = Math.max(0, descriptorsOf(service) - before - SPARE);
      const verdict = await judge(service, times(MAX_DELAY, SHORT_FORM_DELAY));
      const untyped = replies.filter((reply) => !/\((SOURCE_TIMEOUT|OVERLOADED|RATE_LIMITED)\)$/.test(reply));
      const failures = [
        ...verdict.failures,
        ...untyped.map((reply) => `an upload ended with ${reply.slice(-200)}`),
        ...left.map((path) => `${path} was left`),
        ...(descriptors > 0 ? [`${descriptors} descriptors were left`] : []),
        ...(isWhole && replies.length < UPLOADS ? [`only ${replies.length} uploads were ended`] : []),
      ];
      const figure = `${replies.length} of ${UPLOADS}; ${left.length} and ${descriptors}; ${verdict.figure}`;
      return { ...verdict, figure, failures };
    }),
};

/** Begins one upload: a third is a multipart form, whose file is preceded by its parameters. */
function begin({ port, attacker }: SharedService, index: number, replies: string[]): Socket {
  const isForm = index % 3 === 0;
  const query = 'app=imageproc&outfile=a.jpg';
  const type = isForm ? 'multipart/form-data; boundary=b' : 'image/png';
  const head = `POST /api/?${query} HTTP/1.1\r\nHost: x\r\nX-Api-Key: ${attacker.apiKey}\r\nContent-Type: ${type}\r\nContent-Length: ${ANNOUNCED}\r\n\r\n`;
  const part = '--b\r\nContent-Disposition: form-data; name=infile; filename=a.png\r\n\r\n';
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.write(isForm ? head + part : head);
  let reply = '';
  socket.setEncoding('utf8').on('data', (text: string) => {
    reply += text;
    if (!/\([A-Z_]+\)$/.test(reply)) return;
    replies.push(reply);
    socket.destroy();
  });
  return socket;
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
