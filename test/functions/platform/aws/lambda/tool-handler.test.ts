import { expect, it } from 'vitest';
import { warmEngine } from '../../../../../functions/platform/aws/lambda/tool-handler.ts';
import { createLog } from '../../../../../functions/shared/log.ts';

it('logs an engine that does not start as an error, with the cause', async () => {
  const lines: string[] = [];
  const log = createLog((line) => lines.push(line), { level: 'error' });
  const warm = () => Promise.reject(new Error('enter exited with 3'));

  await warmEngine({ warm }, log, 60_000);

  expect(lines).toHaveLength(1);
  expect(JSON.parse(lines[0]!)).toMatchObject({
    level: 'error',
    event: 'engine not started',
    cause: expect.stringContaining('enter exited with 3'),
  });
});

it('does not wait for an engine that takes too long', async () => {
  const lines: string[] = [];
  const never = () => new Promise<never>(() => {});

  await warmEngine(
    { warm: never },
    createLog((line) => lines.push(line)),
    10,
  );

  expect(lines).toEqual([]);
});
