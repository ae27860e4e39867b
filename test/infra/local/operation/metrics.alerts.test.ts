import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseYaml } from '@redocly/openapi-core';
import { expect, it } from 'vitest';
import { ERRORS } from '../../../../functions/shared/errors.ts';
import { createMetrics } from '../../../../infra/local/operation/metrics.ts';

interface Rule {
  readonly alert: string;
  readonly expr: string;
  readonly labels?: { readonly severity?: string };
  readonly annotations: { readonly summary: string };
}

const FILE = join(import.meta.dirname, '../../../../infra/local/operation/alerts.yaml');

it('alerts only on metrics and codes that the service has', async () => {
  const { groups } = parseYaml(readFileSync(FILE, 'utf8')) as {
    groups: readonly { rules: readonly Rule[] }[];
  };
  const rules = groups.flatMap(({ rules }) => rules);
  const metrics = createMetrics(['tiny'], { version: '1' });
  metrics.watchDisk({ free: () => ({ data: 1 }), isLow: false });
  metrics.watchAge(() => 31);
  metrics.watchJobs({ state: async () => ({ queued: 2, running: 1, oldest: 3, pending: 4, failed: 5 }) });
  const exported = new Set([...(await metrics.text()).matchAll(/^# TYPE (\w+)/gm)].map(([, name]) => name));
  const all = rules.map(({ expr }) => expr).join('\n');

  expect(rules.map(({ alert, labels }) => [alert, labels?.severity])).toEqual(
    rules.map(({ alert }) => [alert, expect.stringMatching(/^(page|ticket)$/)]),
  );
  expect(rules.map(({ alert, annotations }) => [alert, annotations.summary.endsWith('.')])).toEqual(
    rules.map(({ alert }) => [alert, true]),
  );
  expect([...all.matchAll(/docmill_\w+/g)].filter(([name]) => !exported.has(name))).toEqual([]);
  expect([...all.matchAll(/code=~"([\w|]+)"/g)].flatMap(([, codes]) => codes!.split('|'))).toSatisfy(
    (codes: string[]) => codes.length > 0 && codes.every((code) => Object.hasOwn(ERRORS, code)),
  );
});

it('counts refusals and lost emails, and tells the age of the engines', async () => {
  const metrics = createMetrics(['tiny'], { version: '1' });
  metrics.watchAge(() => 31);
  metrics.refused('OVERLOADED');
  metrics.mailFailed();

  const text = await metrics.text();

  expect(text).toContain('docmill_errors_total{code="OVERLOADED"} 1\n');
  expect(text).toContain('docmill_errors_total{code="QUOTA_EXCEEDED"} 0\n');
  expect(text).toContain('docmill_mail_failures_total 1\n');
  expect(text).toContain('docmill_engines_age_days 31\n');
});
