import { expect, it } from 'vitest';
import { createCanary } from './checks.ts';
import { oneMachine } from './deployment/one-machine.ts';
import { SHORT_ROWS } from './rows.ts';

const canary = createCanary();

it.for(SHORT_ROWS)('$name: $title', async (row, context) => {
  const { failures, skipped } = await row.run({
    extent: 'short',
    progress: () => {},
    canary,
    deployment: oneMachine,
  });

  // As text, which the summary shows whole.
  expect(failures.join('\n')).toBe('');
  // API keys are searched for in what the service wrote, and in the environments of its processes.
  expect([...new Set(canary.found)]).toEqual([]);
  if (skipped !== undefined) context.skip(skipped);
});
