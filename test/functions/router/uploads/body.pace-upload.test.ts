import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { paceUpload } from '../../../../functions/router/uploads/body.ts';

/** Time limits that a busy machine does not reach. */
const PATIENT = { idle: 60_000, whole: 60_000 };

describe('an upload', () => {
  it('arrives whole, in any chunks', async () => {
    const body = new PassThrough();
    for (let count = 0; count < 100; count++) body.write(`${count},`);
    body.end();

    const { length } = await text(paceUpload(body, PATIENT));

    expect(length).toBe(290);
  });

  it('fails when the caller stops sending, and the connection stays open for the reply', async () => {
    const body = new PassThrough();
    body.write('start');

    const paced = text(paceUpload(body, { ...PATIENT, idle: 100 }));

    await expect(paced).rejects.toMatchObject({ code: 'SOURCE_TIMEOUT' });
    expect(body.destroyed).toBe(false);
  });

  it('fails when it takes too long, however steadily the caller sends', async () => {
    const body = new PassThrough();
    const sending = setInterval(() => body.write('x'), 20);

    const paced = text(paceUpload(body, { ...PATIENT, whole: 400 }));

    await expect(paced).rejects.toMatchObject({ code: 'SOURCE_TIMEOUT' });
    clearInterval(sending);
  });

  it('does not fail because its reader is slow', async () => {
    const body = new PassThrough();
    body.end('everything');
    const paced = paceUpload(body, { ...PATIENT, idle: 50 });

    await setTimeout(200);

    expect(await text(paced)).toBe('everything');
  });

  it('fails when the connection is closed', async () => {
    const body = new PassThrough();
    body.on('error', () => {});
    const paced = text(paceUpload(body, PATIENT));

    body.destroy(new Error('reset'));

    await expect(paced).rejects.toMatchObject({ code: 'CORRUPT_SOURCE' });
  });

  it('fails when it comes in tiny chunks', async () => {
    const body = new PassThrough({ highWaterMark: 1_000_000 });
    const paced = text(paceUpload(body, PATIENT));
    for (let count = 0; count < 60_000; count++) body.write('x');

    await expect(paced).rejects.toMatchObject({ code: 'CORRUPT_SOURCE' });
  });
});
