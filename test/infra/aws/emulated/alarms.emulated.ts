import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it } from 'vitest';
import { settings } from '../../../../infra/aws/settings.ts';
import { isBreached } from '../alarms/evaluate.ts';
import { PROVOCATIONS } from '../alarms/provocations.ts';
import { readAlarms } from '../alarms/template.ts';
import { useEmulator } from './use-emulator.ts';

const { alarms, chosen } = readAlarms();

/** Returns the lines that functions have logged since the last call. */
function recorder() {
  const lines: string[] = [];
  return {
    // Functions log JSON; Node and Chromium also write other lines.
    log: (line: string) => lines.push(...(/^\w+: (\{.*\})$/.exec(line)?.slice(1) ?? [])),
    take: () => lines.splice(0),
  };
}

function raised(lines: readonly string[]): string[] {
  return Object.keys(PROVOCATIONS)
    .filter((name) => isBreached(alarms.get(name)!, lines))
    .sort();
}

describe('the log lines of deployed functions raise the alarms', () => {
  const { log, take } = recorder();
  const used = useEmulator({ settings: { ...settings, limits: chosen.limits }, log });

  it('when a conversion reaches its deadline, and when the key table is missing', async () => {
    const { ask, urlOf, emulator } = used();
    const slow = await ask({
      ...{ app: 'html2image', infile: urlOf('a.html'), outfile: 'a.png' },
      '--wait-for-selector': '#absent',
    });
    const ofSlow = take();
    await emulator.table.client.send(new DeleteTableCommand({ TableName: 'keys' }));
    const keyless = await ask({ app: 'imageproc', infile: urlOf('a.png'), outfile: 'a.jpg' });
    const ofKeyless = take();

    expect(slow.body).toMatch(/\(TIMED_OUT\)$/);
    expect(raised(ofSlow)).toContain('SlowConversions');
    expect(keyless.status).toBe(500);
    expect(raised(ofKeyless)).toEqual(['InternalErrors', 'KeyTableErrors']);
  });
});

describe('the log lines of functions that require a sandbox', () => {
  const { log, take } = recorder();
  const used = useEmulator({ settings: { ...settings, sandbox: 'required' }, log });

  it('raise the alarm about it, because Lambda does not allow one', async () => {
    const { ask, urlOf } = used();

    const { status } = await ask({ app: 'imageproc', infile: urlOf('a.png'), outfile: 'a.jpg' });

    expect(status).toBe(500);
    expect(raised(take())).toEqual(expect.arrayContaining(['InternalErrors', 'SandboxIncomplete']));
  });
});
