import { COUNTS } from '../../functions/shared/settings/accounts.ts';
import { MEGABYTES } from '../../functions/shared/settings/limits.ts';
import { MAX_URL_LIFETIME } from '../../functions/shared/settings/url-lifetime.ts';
import type { Tool } from '../../functions/shared/tool.ts';
import type { Settings } from './settings.ts';

interface Range {
  readonly min: number;
  readonly max: number;
}

/** The ranges in which the functions accept these settings. With any other value they would fail on every call. */
const RANGES: Readonly<Record<'limits' | 'keyLimits' | 'demo', Readonly<Record<string, Range>>>> = {
  limits: { sourceMegabytes: MEGABYTES, resultMegabytes: MEGABYTES, seconds: { min: 1, max: 240 } },
  keyLimits: { perMinute: COUNTS, perMonth: COUNTS, concurrent: COUNTS },
  demo: { perAddress: COUNTS, perHour: COUNTS },
};

/**
 * Rejects settings that AWS would refuse during a deployment, or accept although they do not work.
 * @throws Error with one sentence for each mistake.
 */
export function checkSettings(settings: Settings, tools: readonly Tool[]): void {
  const { urlLifetime, tenantIsolation, provisioned, reserved, memory, accountConcurrency } = settings;
  const names = tools.map(({ name }) => name);
  const issues: string[] = [];
  if (!isInteger(urlLifetime, { min: 1, max: MAX_URL_LIFETIME })) {
    issues.push(
      `urlLifetime must be an integer from 1 to ${MAX_URL_LIFETIME}, got ${urlLifetime}: a URL ends with the router's temporary credentials.`,
    );
  }
  for (const [group, ranges] of Object.entries(RANGES)) {
    const values: Readonly<Record<string, unknown>> | undefined = settings[group as keyof typeof RANGES];
    // Demo mode is off if its limits are absent.
    if (!values) continue;
    for (const [name, range] of Object.entries(ranges)) {
      if (isInteger(values[name], range)) continue;
      issues.push(
        `${group}.${name} must be an integer from ${range.min} to ${range.max}, got ${values[name]}.`,
      );
    }
  }
  if (!(accountConcurrency >= 2)) {
    issues.push(
      `accountConcurrency must be at least 2, got ${accountConcurrency}: a conversion takes two executions.`,
    );
  }
  for (const setting of ['memory', 'reserved', 'provisioned'] as const) {
    const unknown = Object.keys({ memory, reserved, provisioned }[setting]).filter(
      (name) => name !== 'router' && !names.includes(name),
    );
    if (unknown.length > 0) issues.push(`${setting} contains unknown functions: ${unknown.join(', ')}.`);
  }
  const warm = Object.keys(provisioned).filter((name) => names.includes(name));
  if (tenantIsolation && warm.length > 0) {
    issues.push(
      `provisioned cannot name ${warm.join(', ')} while tenantIsolation is on: Lambda offers only one of the two.`,
    );
  }
  if (settings.front && settings.wafRate !== undefined) {
    issues.push(
      'wafRate cannot be set together with front: the gateway sees the addresses of CloudFront, which all callers share.',
    );
  }
  if (issues.length > 0) throw new Error(`infra/aws/settings.ts: ${issues.join(' ')}`);
}

function isInteger(value: unknown, { min, max }: Range): boolean {
  return Number.isInteger(value) && (value as number) >= min && (value as number) <= max;
}
