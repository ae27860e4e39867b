import { defineConfig } from 'vitest/config';
import { textSetting } from '../../../../functions/shared/settings/environment.ts';

/** Tests that run inside the Lambda emulator's network; `main.ts --inside` starts them. */
export default defineConfig({
  test: {
    include: ['test/infra/aws/emulated/*.emulated.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    // As in test/vitest.config.ts: a test that depends on timing gets a second try in CI, and is reported anyway.
    retry: textSetting('CI', '') ? 1 : 0,
    // Each test file starts its own emulator.
    maxWorkers: 1,
  },
});
