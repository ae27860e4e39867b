import { expect, it } from 'vitest';
import { createCanary } from './checks/canary.ts';
import { oneMachine } from './deployment/one-machine.ts';
import { runRow } from './neighbor/watch.ts';
import { amounts } from './row.ts';
import { ROWS } from './rows.ts';

const canary = createCanary();
// Only the second account's tool starts warm, because the short form does not measure how long others take to start.
process.env.WARM = 'pdftools';

it.for(ROWS)('$name: $title', { timeout: 900_000 }, async (row, context) => {
  const effort = {
    ...amounts('share'),
    progress: () => {},
    canary,
    deployment: oneMachine,
  };

  const { failures, skipped, unproven } = await runRow(row, effort);

  // As text, which the summary shows whole.
  expect(failures.join('\n')).toBe('');
  if (skipped !== undefined) context.skip(skipped);
  if (unproven !== undefined) context.skip(`not proven: ${unproven}`);
});
