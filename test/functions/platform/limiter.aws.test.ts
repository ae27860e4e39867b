import {
  type DynamoDBClient,
  UpdateItemCommand,
  type UpdateItemCommandInput,
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

/** Runs a function before the next write that starts new windows, as if another process had been faster. */
function beforeRenewal(client: DynamoDBClient, run: () => Promise<unknown>): void {
  let pending: typeof run | undefined = run;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      const first = pending;
      const { ExpressionAttributeNames: names = {} } = args.input as UpdateItemCommandInput;
      if (context.commandName === UpdateItemCommand.name && Object.values(names).includes('expires')) {
        pending = undefined;
        await first?.();
      }
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
    beforeRenewal(client, () => limiter.release(first.ticket, refund));

    const second = await limiter.admit({ ...call, now: now + MINUTE });
    const third = await limiter.admit({ ...call, now: now + MINUTE });

    expect(second).toMatchObject({ admitted: true, used: { short: 1, month: 1 } });
    // The first call is no longer in progress.
    expect(third).toMatchObject({ admitted: true, used: { short: 2, month: 2 } });
    await close();
  },
);

it('refunds a call once, even if the update is sent twice', async () => {
  const { client, close } = await startDynalite('keys');
  const limiter = createLimiter(createDynamoTable({ client, table: 'keys' }));
  const call = {
    account: 'a',
    limits: { ...LIMITS, concurrent: 5 },
    expires: START + 10 * MINUTE,
    now: START,
  };
  await limiter.admit(call);
  const second = await limiter.admit(call);
  if (!second.admitted) throw new Error('not admitted');

  await limiter.release(second.ticket, 'all');
  await limiter.release(second.ticket, 'all');

  expect(await limiter.used('a', START)).toEqual({ short: 1, month: 1 });
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
