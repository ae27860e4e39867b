import {
  type DynamoDBClient,
  InternalServerError,
  ProvisionedThroughputExceededException,
  UpdateItemCommand,
} from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createDynamoTable } from '../../../functions/platform/aws/table.ts';
import { createLimiter } from '../../../functions/platform/limiter.ts';
import { startDynalite } from '../../aws-servers/dynalite.ts';

it('needs one write to admit a call and one to release it, and no right to replace or delete items', async () => {
  const { client, close } = await startDynalite('keys');
  const limiter = createLimiter(createDynamoTable({ client, table: 'keys' }));
  const call = {
    account: 'a',
    limits: { perShortWindow: 60, perMonth: 1000, concurrent: 5 },
    expires: Date.now() + 60_000,
  };
  let writes = 0;
  const commands = new Set<string | undefined>();
  client.middlewareStack.add(
    (next, context) => async (args) => {
      commands.add(context.commandName);
      if (context.commandName === UpdateItemCommand.name) writes += 1;
      return next(args);
    },
    { step: 'initialize' },
  );

  await limiter.admit(call);
  expect([...commands].sort()).toEqual(['GetItemCommand', 'UpdateItemCommand']);
  writes = 0;
  for (let round = 0; round < 4; round++) {
    const admission = await limiter.admit(call);
    if (admission.admitted) await limiter.release(admission.ticket, 'none');
  }

  // A minute may end during the test, which needs one more write.
  expect(writes).toBeGreaterThanOrEqual(8);
  expect(writes).toBeLessThanOrEqual(9);
  await close();
});

/** Runs a function before the update that follows the next one, as if another process had been faster. */
function beforeSecondUpdate(client: DynamoDBClient, run: () => Promise<unknown>): void {
  let updates = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName === UpdateItemCommand.name && ++updates === 2) await run();
      return next(args);
    },
    { step: 'initialize' },
  );
}

const MINUTE = 60_000;
const START = Date.UTC(2100, 0, 31, 23, 59, 30);
const LIMITS = { perShortWindow: 10, perMonth: 100, concurrent: 1 };

it.each(['month', 'all'] as const)(
  'keeps the refund (%s) of a call that ends while another one starts a minute',
  async (refund) => {
    const { client, close } = await startDynalite('keys');
    const limiter = createLimiter(createDynamoTable({ client, table: 'keys' }));
    const now = Date.UTC(2100, 0, 15, 12, 0, 30);
    const call = { account: 'a', limits: { ...LIMITS, concurrent: 2 }, expires: now + 10 * MINUTE };
    const first = await limiter.admit({ ...call, now });
    if (!first.admitted) throw new Error('not admitted');
    beforeSecondUpdate(client, () => limiter.release(first.ticket, refund));

    const second = await limiter.admit({ ...call, now: now + MINUTE });
    const third = await limiter.admit({ ...call, now: now + MINUTE });

    expect(second).toMatchObject({ admitted: true, used: { short: 1, month: 1 } });
    // The first call is no longer in progress.
    expect(third).toMatchObject({ admitted: true, used: { short: 2, month: 2 } });
    await close();
  },
);

it.each([
  ['a lost reply', Object.assign(new Error('reset'), { code: 'ECONNRESET' }), false],
  ['a failure of DynamoDB', failureOf(InternalServerError, 500), false],
  ['throttling', failureOf(ProvisionedThroughputExceededException, 400), true],
])('ends and refunds a call at most once after %s', async (_, error, isRepeated) => {
  const { client, close } = await startDynalite('keys');
  const limiter = createLimiter(createDynamoTable({ client, table: 'keys' }));
  const call = {
    account: 'a',
    limits: { ...LIMITS, concurrent: 2 },
    expires: START + 10 * MINUTE,
    now: START,
  };
  const [, second] = [await limiter.admit(call), await limiter.admit(call)];
  if (!second.admitted) throw new Error('not admitted');
  let isFirst = true;
  client.middlewareStack.add(
    (next) => async (args) => {
      if (!isFirst) return next(args);
      isFirst = false;
      // Only a refused change was not applied.
      if (!isRepeated) await next(args);
      throw error;
    },
    { step: 'deserialize', priority: 'high' },
  );

  const released = await limiter.release(second.ticket, 'all').then(
    () => true,
    () => false,
  );

  expect(released).toBe(isRepeated);
  expect(await limiter.used('a', START)).toEqual({ short: 1, month: 1 });
  expect(await limiter.admit(call)).toMatchObject({ admitted: true });
  expect(await limiter.admit(call)).toMatchObject({ admitted: false, exceeded: 'concurrent' });
  await close();
});

function failureOf(
  type: typeof InternalServerError | typeof ProvisionedThroughputExceededException,
  httpStatusCode: number,
): Error {
  return new type({ message: 'Try again.', $metadata: { httpStatusCode } });
}

it('keeps counting calls that an earlier version has admitted, each in its own attribute', async () => {
  const { client, close } = await startDynalite('keys');
  const table = createDynamoTable({ client, table: 'keys' });
  const limiter = createLimiter(table);
  const windows = { shortOf: String(Math.floor(START / MINUTE)), monthOf: '2100-01' };
  const leases = { lease_AbCdEfGhIjKl: START + MINUTE, lease_ended0000000: START - MINUTE };
  const counts = { short: 2, month: 7, running: 2, version: 9 };
  await table.update('limits#a', { set: { ...windows, ...leases, ...counts } });
  const call = { account: 'a', limits: { ...LIMITS, concurrent: 2 }, expires: START + 10 * MINUTE };

  const admissions = [
    await limiter.admit({ ...call, now: START }),
    await limiter.admit({ ...call, now: START }),
    await limiter.admit({ ...call, now: START + 2 * MINUTE }),
    await limiter.admit({ ...call, now: START + 2 * MINUTE }),
  ];

  expect(admissions).toMatchObject([
    { admitted: true, used: { short: 3, month: 8 } },
    { admitted: false, exceeded: 'concurrent' },
    { admitted: true },
    { admitted: false, exceeded: 'concurrent' },
  ]);
  await close();
});

it('counts nothing of an item that has expired but was not deleted yet', async () => {
  const { client, close } = await startDynalite('keys');
  const table = createDynamoTable({ client, table: 'keys' });
  const limiter = createLimiter(table);
  const now = Date.now();
  const call = { account: 'a', limits: { concurrent: 1 }, expires: now - 2 * MINUTE };
  await limiter.admit({ ...call, now: now - 5 * MINUTE });
  await table.update('limits#a', { set: { expires: now - 1 } });

  const admissions = [];
  for (const later of [0, 0, 2 * MINUTE])
    admissions.push(await limiter.admit({ ...call, now: now + later, expires: now + 10 * MINUTE }));

  expect(admissions).toMatchObject([
    { admitted: true, used: { short: 1, month: 1 } },
    { admitted: false, exceeded: 'concurrent' },
    { admitted: false, exceeded: 'concurrent' },
  ]);
  await close();
});

it('counts a call that was delayed in the windows that another one has begun', async () => {
  const { client, close } = await startDynalite('keys');
  const limiter = createLimiter(createDynamoTable({ client, table: 'keys' }));
  const call = { account: 'a', limits: { perShortWindow: 10, perMonth: 100 }, expires: START + 10 * MINUTE };
  await limiter.admit({ ...call, now: START });
  for (let round = 0; round < 5; round++) await limiter.admit({ ...call, now: START + MINUTE });

  const late = await limiter.admit({ ...call, now: START });

  expect(late).toMatchObject({ admitted: true, used: { short: 6, month: 6 } });
  expect(await limiter.used('a', START + MINUTE)).toEqual({ short: 6, month: 6 });
  await close();
});

it('does not follow an item that a wrong clock has written', async () => {
  const { client, close } = await startDynalite('keys');
  const limiter = createLimiter(createDynamoTable({ client, table: 'keys' }));
  const call = { account: 'a', limits: { perShortWindow: 1, perMonth: 100 }, expires: START + 10 * MINUTE };
  await limiter.admit({ ...call, now: START + 90 * MINUTE });

  expect(await limiter.admit({ ...call, now: START })).toMatchObject({ admitted: true });
  await close();
});
