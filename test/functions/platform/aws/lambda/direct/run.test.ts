import { expect, it } from 'vitest';
import { runDirect } from '../../../../../../functions/platform/aws/lambda/direct/run.ts';
import { withCallMetrics } from '../../../../../../functions/platform/aws/lambda/metrics.ts';
import { createEgressGuard } from '../../../../../../functions/shared/egress/guard.ts';
import { CONVERSION_LIMITS } from '../../../../../../functions/shared/tool.ts';
import { imageproc } from '../../../../../../functions/tools.ts';
import { isBreached, linesOf, readAlarms } from '../../../../../helpers/alarms.ts';
import { STACK } from '../../../../../lambda-emulator/deployment.ts';

const event = { version: 1, infile: 'https://example.com/a.png', outfile: 'b.jpg' };
const caller = { account: 'tenant', signal: new AbortController().signal, requestId: 'request' };

it('counts each direct invocation by its code, so that the same alarms are raised', async () => {
  const failures: string[] = [];
  const lines = await linesOf(async (log) => {
    const dependencies = {
      tool: imageproc,
      egress: createEgressGuard(),
      limits: CONVERSION_LIMITS,
      log: withCallMetrics(log, STACK),
    };
    const run = (given: object, handle: Parameters<typeof runDirect>[2]['handle']) =>
      runDirect(given, caller, { ...dependencies, handle }).catch(({ name }) => failures.push(name));
    await run(event, async () => ({ ok: true, objectKeys: [] }));
    await run({ ...event, outfile: 'b.mp3' }, async () => ({ ok: true, objectKeys: [] }));
    await run(event, () => Promise.reject(new Error('broken')));
  });

  const calls = lines.map((line) => JSON.parse(line)).filter((line) => line.event === 'call');
  expect(failures).toEqual(['UNSUPPORTED_CONVERSION', 'INTERNAL']);
  expect(calls.map(({ code, Calls }) => [code, Calls])).toEqual([
    ['OK', 1],
    ['UNSUPPORTED_CONVERSION', 1],
    ['INTERNAL', 1],
  ]);
  expect(calls[2]).toMatchObject({
    direct: true,
    requestId: 'request',
    account: 'tenant',
    tool: 'imageproc',
  });
  expect(isBreached(readAlarms().alarms.get('InternalErrors')!, lines)).toBe(true);
});
