import { defineConfig } from 'vitest/config';
import { resultsReporter } from '../run/reporter.ts';
import { RESULTS } from '../run/results.ts';

const LAB = 'test/emulated/*.lab.emulated.ts';
const SUITES = {
  emulated: { include: ['test/emulated/*.emulated.ts'], exclude: [LAB] },
  lab: { include: [LAB] },
};

/** Tests that run inside the Lambda emulator's network; `main.ts --inside` starts them. */
export default defineConfig({
  test: {
    env: { [RESULTS]: '' },
    reporters: ['default', resultsReporter],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // The default of one second is too short for a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // Each test file starts its own emulator.
    maxWorkers: 1,
    projects: Object.entries(SUITES).map(([name, files]) => ({ extends: true, test: { name, ...files } })),
  },
});
