import { MAX_URL_LIFETIME } from '../../functions/shared/settings/url-lifetime.ts';
import type { Tool } from '../../functions/shared/tool.ts';
import type { Settings } from './settings.ts';

/**
 * Rejects settings that AWS would refuse during a deployment, or accept although they do not work.
 * @throws Error with one sentence for each mistake.
 */
export function checkSettings(settings: Settings, tools: readonly Tool[]): void {
  const { urlLifetime, tenantIsolation, provisioned, reserved, memory, accountConcurrency, limits } =
    settings;
  const names = tools.map(({ name }) => name);
  const issues: string[] = [];
  if (!(urlLifetime >= 1 && urlLifetime <= MAX_URL_LIFETIME)) {
    issues.push(
      `urlLifetime must be 1 to ${MAX_URL_LIFETIME} seconds, got ${urlLifetime}: a URL ends with the router's temporary credentials.`,
    );
  }
  if (!(limits.seconds >= 1 && limits.seconds <= 240)) {
    issues.push(`limits.seconds must be 1 to 240, got ${limits.seconds}.`);
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
  if (issues.length > 0) throw new Error(`infra/aws/settings.ts: ${issues.join(' ')}`);
}
