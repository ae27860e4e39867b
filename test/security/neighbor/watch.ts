import { inspect } from 'node:util';
import type { Effort, Reached, Row } from '../row.ts';
import type { Verdict } from './verdict.ts';

/** Runs a row while a second account uses every service that it attacks. */
export async function runRow(row: Pick<Row, 'run'>, effort: Effort): Promise<Reached> {
  const verdicts: Verdict[] = [];
  const reached: Reached = await row.run(watched(effort, verdicts)).catch((thrown: unknown) => ({
    figure: 'aborted',
    failures: [inspect(thrown, { depth: 4 })],
  }));
  if (verdicts.length === 0) return reached;
  const unproven = [reached, ...verdicts].flatMap(({ unproven: reason }) => reason ?? []);
  return {
    ...reached,
    failures: [...reached.failures, ...verdicts.flatMap(({ failures }) => failures)],
    ...(unproven.length > 0 && { unproven: unproven.join('; ') }),
    notes: [...verdicts.map(({ figure }) => `second account: ${figure}`), ...(reached.notes ?? [])],
  };
}

function watched(effort: Effort, verdicts: Verdict[]): Effort {
  // The short extent measures no times.
  if (effort.extent === 'short') return effort;
  const { deployment } = effort;
  const report = (verdict: Verdict) => void verdicts.push(verdict);
  const withService: typeof deployment.withService = (settings, use) =>
    deployment.withService({ ...settings, report }, use);
  return { ...effort, deployment: { ...deployment, withService } };
}
