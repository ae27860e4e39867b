import { expect, it } from 'vitest';
import { createCanary } from './checks/canary.ts';
import { oneMachine } from './deployment/one-machine.ts';
import { runRow } from './neighbor/watch.ts';
import { amounts } from './row.ts';
import { ROWS } from './rows.ts';

const canary = createCanary();

// No retries: a protection that works every other time is none.
it.for(ROWS)('$name: $title', { timeout: 900_000, retry: 0 }, async (row, context) => {
  const effort = {
    ...amounts('share'),
    progress: () => {},
    canary,
    deployment: oneMachine,
  };

  const { failures, skipped, unproven } = await runRow(row, effort);

  if (unproven !== undefined) console.warn(`NOT PROVEN: ${row.title}: ${unproven}`);
  if (skipped !== undefined) {
    console.warn(`SKIPPED: ${row.title}: ${skipped}`);
    context.skip(skipped);
  }
  expect(failures).toEqual([]);
});
