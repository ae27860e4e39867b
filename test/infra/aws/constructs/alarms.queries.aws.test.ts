import { expect, it } from 'vitest';
import { QUERIES } from '../../../../infra/aws/constructs/alarms.ts';
import { call, linesOf, readAlarms } from '../../../helpers/alarms.ts';

it('reads only fields that a log line of a call has, or that CloudWatch adds', async () => {
  const lines = await linesOf(async (log) => {
    await call(log, {});
    await call(log, { invoke: () => Promise.reject(new Error('broken')) });
  });
  // Only lines of tools name the account.
  const logged = new Set(['account', ...lines.flatMap((line) => Object.keys(JSON.parse(line)))]);

  const fields = Object.values(QUERIES).flatMap((query) => [
    ...(/^fields (.+)$/m.exec(query)?.[1]?.split(', ') ?? []),
    ...[...query.matchAll(/(\w+) !?= '/g)].map(([, name]) => name!),
    ...[...query.matchAll(/(?:sort|latest\(|count_distinct\() ?(\w+)/g)].map(([, name]) => name!),
  ]);

  expect(fields.length).toBeGreaterThan(20);
  expect(fields.filter((name) => !/^@|^calls$/.test(name) && !logged.has(name))).toEqual([]);
});

it('are saved for the logs of all functions', () => {
  const { template } = readAlarms();
  const logs = Object.keys(template.findResources('AWS::Logs::LogGroup'));

  template.resourceCountIs('AWS::Logs::QueryDefinition', Object.keys(QUERIES).length);
  for (const { Properties } of Object.values(template.findResources('AWS::Logs::QueryDefinition')))
    expect(Properties.LogGroupNames.map(({ Ref }: { Ref: string }) => Ref).sort()).toEqual(logs.sort());
});
