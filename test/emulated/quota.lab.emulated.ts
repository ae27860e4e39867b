import { setTimeout } from 'node:timers/promises';
import { beforeAll, describe, expect, it } from 'vitest';
import { parseSettings } from '../../infra/aws/settings.ts';
import { type Asked, type UsedEmulator, useEmulator } from './use-emulator.ts';

const CALLERS = 30;
const QUOTA = 10;

const isDone = ({ status }: Asked) => status === 200;
/** Whether the service, or the account itself, is at capacity. */
const isBusy = ({ status, headers, body }: Asked) =>
  Number(headers.get('retry-after')) > 0 &&
  ((status === 503 && body.endsWith('(OVERLOADED)')) || (status === 429 && body.endsWith('(RATE_LIMITED)')));

/** Starts some executions first: on Lambda each cold start has a core of its own, here all share those of one machine. */
async function warm({ ask, urlOf }: UsedEmulator): Promise<void> {
  const calls = Array.from({ length: 4 }, (_, caller) =>
    ask({ app: 'imageproc', infile: urlOf(`warm-${caller}/a.png`), outfile: 'a.jpg' }),
  );
  expect((await Promise.all(calls)).filter(isDone)).toHaveLength(4);
  // The gateway's throttle counts these calls too.
  await setTimeout(1000);
}

/** Sends the same kind of conversion from 30 concurrent callers. Each has its own source, so that none are shared. */
function crowd({ ask, urlOf }: UsedEmulator): Promise<Asked[]> {
  return Promise.all(
    Array.from({ length: CALLERS }, (_, caller) =>
      ask({ app: 'imageproc', infile: urlOf(`${caller}/a.png`), outfile: 'a.jpg' }),
    ),
  );
}

describe('30 callers of an account with 10 executions', () => {
  const used = useEmulator({ quota: QUOTA });

  it('get a conversion or a clear response to retry where nothing has run yet, and the account serves the next call', async () => {
    const responses = await crowd(used());

    // How many are converted depends on how long cold starts take.
    expect(responses.filter((response) => !isDone(response) && !isBusy(response))).toEqual([]);
    expect(responses.filter(isDone).length).toBeGreaterThanOrEqual(1);
    expect(used().emulator.account.most).toBeLessThanOrEqual(QUOTA);
    await setTimeout(1000);
    const { ask, urlOf } = used();
    const next = await ask({ app: 'imageproc', infile: urlOf('next/a.png'), outfile: 'a.jpg' });
    expect(next.status, next.body).toBe(200);
  });

  it('get 5 conversions or more and otherwise a clear response to retry, without a deadlock', async () => {
    await warm(used());

    const responses = await crowd(used());

    const unclear = responses.filter((response) => !isDone(response) && !isBusy(response));
    expect(unclear).toEqual([]);
    expect(responses.filter(isDone).length).toBeGreaterThanOrEqual(5);
    expect(used().emulator.account.most).toBeLessThanOrEqual(QUOTA);
  });

  it('are all served if they retry as instructed', async () => {
    const { ask, urlOf } = used();
    const until = async (caller: number) => {
      for (let attempt = 1; attempt <= 30; attempt++) {
        const query = { app: 'imageproc', infile: urlOf(`again-${caller}/a.png`), outfile: 'a.jpg' };
        const response = await ask(query);
        if (isDone(response)) return attempt;
        expect(isBusy(response), response.body).toBe(true);
        await setTimeout(1000 * Math.random() * Number(response.headers.get('retry-after')));
      }
      return undefined;
    };

    const attempts = await Promise.all(Array.from({ length: CALLERS }, (_, caller) => until(caller)));

    expect(attempts).not.toContain(undefined);
  });
});

describe('a customer beside 60 requests without a key in a second', () => {
  const used = useEmulator({ quota: QUOTA });
  beforeAll(() => warm(used()));

  it('is refused 0 of 100 times', async () => {
    const { ask, urlOf } = used();
    const strangers: Array<Promise<Asked>> = [];
    const flood = setInterval(() => {
      strangers.push(ask({ app: 'imageproc', infile: urlOf('a.png'), outfile: 'a.jpg' }, ''));
    }, 1000 / 60);
    const refused: string[] = [];
    for (let call = 0; call < 100; call += 1) {
      const response = await ask({ app: 'imageproc', infile: urlOf(`${call}/a.png`), outfile: 'a.jpg' });
      if (!isDone(response)) refused.push(response.body);
    }
    clearInterval(flood);

    expect(strangers.length).toBeGreaterThan(100);
    expect(refused).toEqual([]);
    await Promise.all(strangers);
  });
});

describe('30 callers of an account with a lower quota than configured', () => {
  const used = useEmulator({ quota: QUOTA, settings: parseSettings({ accountConcurrency: 1000 }) });
  beforeAll(() => warm(used()));

  it('cannot block each other: routers give up one by one, and the others continue', async () => {
    const responses = await crowd(used());

    expect(responses.filter((response) => !isDone(response) && !isBusy(response))).toEqual([]);
    expect(responses.filter(isDone).length).toBeGreaterThanOrEqual(3);
    expect(used().emulator.account.refused).toBeGreaterThan(0);
  });
});
