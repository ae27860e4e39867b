import { beforeAll, describe, expect, it } from 'vitest';
import { NAMESPACE } from '../../../../functions/shared/lambda/emf.ts';
import * as tools from '../../../../functions/tools.ts';
import { isBreached } from './evaluate.ts';
import { call, linesOf, PROVOCATIONS } from './provocations.ts';
import { metricsOf, readAlarms } from './template.ts';

const { alarms, template } = readAlarms();
const FILTERS = Object.values(template.findResources('AWS::Logs::MetricFilter'));
const filtered = new Set(
  FILTERS.flatMap(({ Properties }) =>
    Properties.MetricTransformations.map(({ MetricName }: { MetricName: string }) => MetricName),
  ),
);
/** Alarms on metrics that the functions write themselves. */
const OWN = [...alarms]
  .filter(([, alarm]) =>
    metricsOf(alarm).every(
      ({ Namespace, MetricName }) => Namespace === NAMESPACE && !filtered.has(MetricName),
    ),
  )
  .map(([name]) => name);

describe('every alarm', () => {
  it('sends mail, and stays off without calls', () => {
    expect(alarms.size).toBe(8);
    for (const alarm of alarms.values()) {
      expect(alarm.TreatMissingData).toBe('notBreaching');
      expect(alarm.AlarmActions).toHaveLength(1);
    }
    template.hasResourceProperties('AWS::SNS::Subscription', {
      Protocol: 'email',
      Endpoint: 'operator@example.com',
    });
  });

  it('on a metric of the functions can be provoked by a test', () => {
    expect(Object.keys(PROVOCATIONS).sort()).toEqual(OWN.toSorted());
  });

  it.each(OWN)('stays off after successful calls and mistakes of the caller: %s', async (name) => {
    const lines = await linesOf(async (log) => {
      await call(log, {});
      await call(log, {
        invoke: async () => ({ ok: false, error: { code: 'CORRUPT_SOURCE', message: 'No.' } }),
      });
    });

    expect(lines.length).toBeGreaterThan(1);
    expect(isBreached(alarms.get(name)!, lines)).toBe(false);
  });
});

describe.each(Object.keys(PROVOCATIONS))('%s', (name) => {
  let lines: string[];
  beforeAll(async () => {
    lines = await PROVOCATIONS[name]!();
  }, 120_000);

  it('is raised by its cause', () => {
    expect(isBreached(alarms.get(name)!, lines), lines.join('\n')).toBe(true);
  });

  it('is the only one that is raised', () => {
    const raised = OWN.filter((other) => isBreached(alarms.get(other)!, lines));

    // A call also fails if its key cannot be read.
    expect(raised).toEqual(OWN.filter((other) => other === name || isConsequence(other, name)));
  });
});

function isConsequence(alarm: string, cause: string): boolean {
  return alarm === 'InternalErrors' && cause === 'KeyTableErrors';
}

/** How Lambda logs the end of a function that used up its memory, in its log format `Text`. */
const OUT_OF_MEMORY = [
  'REPORT RequestId: 1\tDuration: 5.00 ms\tMemory Size: 128 MB\tMax Memory Used: 128 MB\tStatus: error\tError Type: Runtime.OutOfMemory',
  'RequestId: 1 Error: Runtime exited with error: signal: killed\nRuntime.ExitError',
];
const OTHERS = [
  'REPORT RequestId: 1\tDuration: 5.00 ms\tMemory Size: 128 MB\tMax Memory Used: 90 MB',
  '2026-01-01T00:00:00.000Z 1 Task timed out after 3.00 seconds',
  'RequestId: 1 Error: Runtime exited with error: exit status 1\nRuntime.ExitError',
];

describe('OutOfMemory', () => {
  it.each(FILTERS.map(({ Properties }) => Properties))(
    'counts functions that used up their memory, and no other end: filter %#',
    ({ FilterPattern, MetricTransformations }) => {
      const terms = [...FilterPattern.matchAll(/\?"([^"]+)"/g)].map(([, term]) => term as string);
      const counts = (line: string) => terms.some((term) => line.includes(term));

      expect(OUT_OF_MEMORY.map(counts)).toEqual([true, true]);
      expect(OTHERS.map(counts)).toEqual([false, false, false]);
      expect(MetricTransformations).toHaveLength(1);
      const { Namespace, MetricName, Threshold } = alarms.get('OutOfMemory')!;
      expect(MetricTransformations[0]).toEqual({
        MetricNamespace: Namespace,
        MetricName,
        MetricValue: '1',
      });
      expect(Threshold).toBeLessThan(1);
    },
  );

  it('covers the log of every function', () => {
    const groups = FILTERS.map(({ Properties }) => JSON.stringify(Properties.LogGroupName));

    expect(new Set(groups).size).toBe(Object.keys(tools).length + 1);
    // The other format of Lambda's own lines would need other filters.
    for (const { Properties } of Object.values(template.findResources('AWS::Lambda::Function')))
      expect(Properties.LoggingConfig?.LogFormat ?? 'Text').toBe('Text');
  });
});
