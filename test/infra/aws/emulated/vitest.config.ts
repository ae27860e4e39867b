import { defineConfig } from 'vitest/config';

/** Tests that run inside the Lambda emulator's network; `main.ts --inside` starts them. */
export default defineConfig({
  test: {
    include: ['test/infra/aws/emulated/*.emulated.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // Each starts an emulator of its own.
    maxWorkers: 1,
  },
});
