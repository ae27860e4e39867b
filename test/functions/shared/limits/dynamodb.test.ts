import { UpdateItemCommand } from '@aws-sdk/client-dynamodb';
import { expect, it } from 'vitest';
import { createDynamoLimiter } from '../../../../functions/shared/limits/dynamodb.ts';
import { startDynalite } from '../../../infra/aws/servers/dynalite.ts';
import { describeLimiter } from './contract.ts';

describeLimiter('DynamoDB', async () => {
  const { client, close } = await startDynalite('keys');
  return { limiter: createDynamoLimiter({ client, table: 'keys' }), close };
});

it('needs one write to admit a call and one to release it', async () => {
  const { client, close } = await startDynalite('keys');
  const limiter = createDynamoLimiter({ client, table: 'keys' });
  const call = {
    account: 'a',
    limits: { perMinute: 60, perMonth: 1000, concurrent: 5 },
    expires: Date.now() + 60_000,
  };
  await limiter.admit({ ...call, now: Date.now() });
  let writes = 0;
  client.middlewareStack.add(
    (next, context) => async (args) => {
      if (context.commandName === UpdateItemCommand.name) writes += 1;
      return next(args);
    },
    { step: 'initialize' },
  );

  for (let round = 0; round < 4; round++) {
    const admission = await limiter.admit(call);
    if (admission.admitted) await limiter.release(admission.ticket, 'none');
  }

  // A minute may end during the test, which needs one more write.
  expect(writes).toBeGreaterThanOrEqual(8);
  expect(writes).toBeLessThanOrEqual(9);
  await close();
});
