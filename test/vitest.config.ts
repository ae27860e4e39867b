import { defineConfig } from 'vitest/config';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { textSetting } from '../functions/shared/settings/environment.ts';
import { resultsReporter } from './run/reporter.ts';
import { RESULTS } from './run/results.ts';

/** A test's suite is part of its file's name. Each needs more than the one before; see CONTRIBUTING.md. */
const SUITES = {
  unit: { include: ['test/**/*.test.ts'], exclude: ['test/**/*.{engine,service,aws,lab}.test.ts'] },
  // Its files share processes of vitest and engines, which are slow to start.
  engines: {
    include: ['test/**/*.engine.test.ts'],
    isolate: false,
    environment: './test/functions/worker-environment.ts',
  },
  service: { include: ['test/**/*.service.test.ts'] },
  aws: { include: ['test/**/*.aws.test.ts'] },
  // Searches, repeats, compares or measures. Runs in `npm run lab` only.
  lab: { include: ['test/**/*.lab.test.ts'] },
};

/** Starts the file that takes longest first. Otherwise it would run alone at the end. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification) => Number(!moduleId.endsWith('/security.service.test.ts'));
    return (await super.sort(files)).sort((one, other) => rank(one) - rank(other));
  }
}

export default defineConfig({
  test: {
    // The service that test/service calls. It has another name here because BASE_URL has a special meaning in vitest.
    // Results are recorded by vitest itself, not by other runs that a test starts.
    env: { SERVICE_URL: textSetting('BASE_URL', ''), [RESULTS]: '' },
    reporters: ['default', resultsReporter],
    // Several times what a test takes on a busy machine. Only a test that hangs reaches it.
    testTimeout: 240_000,
    hookTimeout: 300_000,
    // The default of one second is too short for a busy machine.
    expect: { poll: { timeout: 60_000 } },
    // Engines need a core each, so two test files at a time are enough for two cores.
    maxWorkers: 2,
    sequence: { sequencer: LongestFirst },
    projects: Object.entries(SUITES).map(([name, files]) => ({ extends: true, test: { name, ...files } })),
  },
});
