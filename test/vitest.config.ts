import { defineConfig } from 'vitest/config';
import { textSetting } from '../functions/shared/settings/environment.ts';
import { SUITES } from './suites.ts';

export default defineConfig({
  test: {
    // The service that test/service calls. It has another name here because BASE_URL has a special meaning in vitest.
    env: { SERVICE_URL: textSetting('BASE_URL', '') },
    // Several times what a test takes on a busy machine. Only a test that hangs reaches it.
    testTimeout: 240_000,
    hookTimeout: 300_000,
    // In CI, where other work loads the machine, a test that depends on timing gets a second try. It is reported anyway.
    retry: textSetting('CI', '') ? 1 : 0,
    // Engines need a core each, so two test files at a time are enough for two cores.
    maxWorkers: 2,
    projects: Object.entries(SUITES).map(([name, include]) => ({ extends: true, test: { name, include } })),
  },
});
