import { describe, expect, it } from 'vitest';
import { ASSUMPTIONS, PRICES } from './prices.ts';
import { type FleetFunction, simulateFleet } from './simulate.ts';

const router: FleetFunction = {
  name: 'router',
  warm: [5],
  cold: 100,
  memory: 1024,
  temporary: 512,
  processor: 'arm',
  bytes: 0,
};
const tool: FleetFunction = {
  ...router,
  name: 'tool',
  warm: [100],
  cold: 1000,
  memory: 2048,
  processor: 'x86',
};

describe('the simulated deployment', () => {
  it('has a cold start for nearly every call an hour after the last one', () => {
    const { coldShare } = simulateFleet(1, { router, tools: [tool] });

    // Calls within eight idle minutes find a warm sandbox: 1 - e^(-8/60) of all.
    expect(coldShare).toBeGreaterThan(0.83);
    expect(coldShare).toBeLessThan(0.91);
  });

  it('has the durations of warm calls when there are many calls', () => {
    const { p50, coldShare, refusedShare } = simulateFleet(10_000, { router, tools: [tool] });

    const { slowdown, gateway, invoke, source, store } = ASSUMPTIONS;
    expect(p50).toBeCloseTo(gateway + slowdown * 5 + invoke + source + slowdown * 100 + store, 6);
    expect(coldShare).toBeLessThan(0.02);
    expect(refusedShare).toBe(0);
  });

  it('bills the router while it waits for the tool', () => {
    const { per1000 } = simulateFleet(10_000, { router, tools: [tool] });

    const atLeast = 1000 * (0.26 * PRICES.lambdaGibSecond.arm + 0.25 * 2 * PRICES.lambdaGibSecond.x86);
    expect(per1000).toBeGreaterThan(atLeast);
    expect(per1000).toBeLessThan(3 * atLeast);
  });

  it('rejects calls above the concurrency of an account', () => {
    const slow = { ...tool, warm: [60_000], cold: 60_000 };

    const { refusedShare, sandboxes } = simulateFleet(100_000, { router, tools: [slow] });

    expect(refusedShare).toBeGreaterThan(0.4);
    expect(sandboxes).toBeLessThanOrEqual(ASSUMPTIONS.concurrency);
  });
});
