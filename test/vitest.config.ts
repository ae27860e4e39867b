import { defineConfig } from 'vitest/config';
import { textSetting } from '../functions/shared/settings/environment.ts';

export default defineConfig({
  test: {
    include: ['test/**/*.test.ts'],
    // The service that test/service asks; vitest puts a meaning of its own into BASE_URL.
    env: { SERVICE_URL: textSetting('BASE_URL', '') },
    testTimeout: 60_000,
    hookTimeout: 120_000,
    // On a machine that others load too, a race of a test's own must not cost a landing; it is printed all the same.
    retry: textSetting('CI', '') ? 1 : 0,
    // Two cores are what we plan for, and the engines want one of them.
    maxWorkers: 2,
  },
});
