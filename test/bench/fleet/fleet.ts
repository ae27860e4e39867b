import * as tools from '../../../functions/tools.ts';
import type { Cold } from '../rows/cold.ts';
import type { Warm } from '../rows/share.ts';
import { type FleetFunction, type FleetPoint, simulateFleet } from './simulate.ts';

const RATES = [10, 100, 1000, 10_000, 100_000, 1_000_000] as const;

/** Simulates the AWS deployment at 10 to a million calls per hour, based on the measurements of this run. */
export function simulateRates(warm: readonly Warm[], cold: Cold): FleetPoint[] {
  const measured = warm.filter(({ tool }) => cold[tool] !== undefined);
  if (measured.length === 0) return [];
  const router: FleetFunction = {
    name: 'router',
    // On one machine, the overhead consists of the router and the tool's work around its engine.
    warm: measured.flatMap(({ own }) => own),
    cold: cold.router ?? 150,
    // As in the stack.
    memory: 1024,
    temporary: 512,
    processor: 'arm',
    bytes: 0,
  };
  const functions = measured.map(
    ({ tool, calls, bytes }): FleetFunction => ({
      name: tool,
      warm: calls,
      cold: cold[tool]!,
      memory: Object.values(tools).find(({ name }) => name === tool)!.sizing.memory,
      temporary: 2048,
      processor: 'x86',
      bytes,
    }),
  );
  return RATES.map((rate) => simulateFleet(rate, { router, tools: functions }));
}
