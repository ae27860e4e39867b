import { randomUUID } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type DynamoDBClient, UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createDynamoTable } from '../../../functions/platform/aws/table.ts';
import { createLimiter } from '../../../functions/platform/limiter.ts';
import type { Limiter } from '../../../functions/platform/limits.ts';
import { createSqliteTable, openDatabase } from '../../../functions/platform/local/database.ts';
import { createFailures } from '../../../functions/platform/usage.ts';
import { startDynalite } from '../../aws-servers/dynalite.ts';

/** Adds up the write units that DynamoDB bills. */
function countUnits(client: DynamoDBClient): { units: number } {
  const counted = { units: 0 };
  client.middlewareStack.add(
    (next, context) => async (args) => {
      Object.assign(args.input, { ReturnConsumedCapacity: 'TOTAL' });
      const result = await next(args);
      const { ConsumedCapacity } = result.output as { ConsumedCapacity?: { CapacityUnits?: number } };
      if (context.commandName === UpdateItemCommand.name)
        counted.units += ConsumedCapacity?.CapacityUnits ?? 0;
      return result;
    },
    { step: 'initialize' },
  );
  return counted;
}

/** In the middle of a minute, so that no window ends. */
const NOW = Date.UTC(2100, 10, 21, 12, 0, 30);
const IN_PROGRESS = [0, 50, 200, 500];

async function admit(limiter: Limiter, index = 0) {
  const limits = { perShortWindow: 10_000, perMonth: 1_000_000, concurrent: 1000 };
  // Calls begin at different times, and may last for 420 s.
  const now = NOW + index;
  const expires = now + 270_000 + ((index * 977) % 150_000);
  const admission = await limiter.admit({ account: 'an account', limits, now, expires });
  if (!admission.admitted) throw new Error('not admitted');
  return admission.ticket;
}

it.each(IN_PROGRESS)(
  'admits and releases for 2 write units with %i calls in progress',
  async (inProgress) => {
    const { client, close } = await startDynalite('keys');
    const limiter = createLimiter(createDynamoTable({ client, table: 'keys' }));
    for (let index = 0; index <= inProgress; index++) {
      const ticket = await admit(limiter, index);
      if (index === inProgress) await limiter.release(ticket, 'none');
    }

    const counted = countUnits(client);
    await limiter.release(await admit(limiter), 'none');

    expect(counted.units).toBe(2);
    await close();
  },
);

it('records each of many failures for 2 write units', async () => {
  const { client, close } = await startDynalite('keys');
  const failures = createFailures(createDynamoTable({ client, table: 'keys' }));
  // The longest values that there are.
  const failure = {
    account: randomUUID(),
    code: 'UNSUPPORTED_CONVERSION',
    requestId: 'r'.repeat(64),
  } as const;
  const units = new Set<number>();
  const counted = countUnits(client);

  for (let number = 0; number < 45; number++) {
    counted.units = 0;
    await failures.record({ ...failure, time: Date.now(), tool: 'html2image' });
    units.add(counted.units);
  }

  expect([...units]).toEqual([2]);
  await close();
});

it('keeps the row of an account small in SQLite, too', async () => {
  const directory = await mkdtemp(join(tmpdir(), 'units-'));
  const database = openDatabase(join(directory, 'docmill.db'));
  const table = createSqliteTable(database, database.transaction);
  const limiter = createLimiter(table);
  for (let index = 0; index < 500; index++) await admit(limiter, index);

  expect(JSON.stringify(await table.get('limits#an account')).length).toBeLessThan(1000);
  database.close();
  await rm(directory, { recursive: true });
});
