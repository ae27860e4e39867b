import { inspect } from 'node:util';
import type { Effort, Reached, Row } from '../row.ts';
import { MAX_DELAY } from './heartbeat.ts';
import { withSharedService } from './service.ts';
import { judge, type Verdict } from './verdict.ts';

/** Milliseconds in the short form, whose machine is busy with other tests. */
export const SHORT_FORM_DELAY = 10_000;

/**
 * Runs a row while a second account uses the same service. Where the attack uses no service, a service runs beside it,
 * but not in the short form.
 */
export async function runRow(row: Row, effort: Effort): Promise<Reached> {
  const verdicts: Verdict[] = [];
  const run = () =>
    row.run(watched(effort, verdicts)).catch((thrown: unknown) => ({
      figure: 'aborted',
      failures: [inspect(thrown, { depth: 4 })],
    }));
  const isBeside = row.beside && effort.deployment.hasNeighbor && effort.times(1, 0) === 1;
  const reached = isBeside ? await runBeside(run, verdicts) : await run();
  return withVerdicts(reached, verdicts);
}

/** Adds what the second account noticed to a row's result. */
export function withVerdicts(reached: Reached, verdicts: readonly Verdict[]): Reached {
  if (verdicts.length === 0) return reached;
  return {
    ...reached,
    failures: [...reached.failures, ...verdicts.flatMap(({ failures }) => failures)],
    ...unprovenOf([reached, ...verdicts]),
    notes: [...verdicts.map(({ figure }) => `second account: ${figure}`), ...(reached.notes ?? [])],
  };
}

function unprovenOf(parts: ReadonlyArray<Pick<Reached, 'unproven'>>): Pick<Reached, 'unproven'> {
  const texts = parts.flatMap(({ unproven }) => unproven ?? []);
  return texts.length > 0 ? { unproven: texts.join('; ') } : {};
}

/** Has every service that a row attacks used by a second account. */
export function watched(effort: Effort, verdicts: Verdict[]): Effort {
  const { deployment, times } = effort;
  const neighbor = {
    maxDelay: times(MAX_DELAY, SHORT_FORM_DELAY),
    report: (verdict: Verdict) => void verdicts.push(verdict),
  };
  return {
    ...effort,
    deployment: {
      ...deployment,
      withService: (settings, use) => deployment.withService({ ...settings, neighbor }, use),
    },
  };
}

async function runBeside(run: () => Promise<Reached>, verdicts: Verdict[]): Promise<Reached> {
  return withSharedService({ sources: [] }, async (service) => {
    await service.heartbeat.reset();
    const reached = await run();
    verdicts.push(await judge(service, MAX_DELAY));
    return reached;
  });
}
