import { Readable, Writable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { expect, it } from 'vitest';
import { pace } from '../../../../functions/shared/source/body.ts';

const CHUNKS = 1000;
/** Chunks in one turn, and those that a turn may begin with. */
const MAX_CHUNKS = 2 * 16;

it('leaves turns of the event loop to others while chunks arrive at once', async () => {
  const chunks = Array.from({ length: CHUNKS }, (_, index) => Buffer.from(`${index};`));
  const received: Buffer[] = [];
  let inTurn = 0;
  let most = 0;
  const sink = new Writable({
    write(chunk: Buffer, _encoding, done) {
      received.push(chunk);
      inTurn += 1;
      most = Math.max(most, inTurn);
      done();
    },
  });
  let ended = false;
  const turn = () => {
    inTurn = 0;
    if (!ended) setImmediate(turn);
  };
  turn();

  await pipeline(Readable.from(chunks), pace(), sink).finally(() => {
    ended = true;
  });

  expect(Buffer.concat(received)).toEqual(Buffer.concat(chunks));
  expect(most).toBeLessThanOrEqual(MAX_CHUNKS);
});
