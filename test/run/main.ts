// `npm test` runs the tests that each change needs, `npm test -- SUITE…` some suites of them, and `npm test -- PATH…` the test files
// whose path contains one of the arguments; `npm test -- root` runs those that differ for root. `npm run lab` has the others.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Parts, ROOT, runParts, VITEST } from './parts.ts';

const EMULATOR = ['node', 'test/lambda-emulator/main.ts'];
const EMULATED = ['vitest', 'run', '--config', 'test/emulated/vitest.config.ts'];

const SUITES: Readonly<Record<string, Parts>> = {
  check: { check: ['npm', 'run', 'check'] },
  unit: { 'unit tests': [...VITEST, '--project', 'unit', '--maxWorkers', '4'] },
  engines: { 'engine tests': [...VITEST, '--project', 'engines'] },
  service: { 'service tests': [...VITEST, '--project', 'service'] },
  aws: {
    'AWS tests': [...VITEST, '--project', 'aws'],
    'tests in the Lambda emulator': [...EMULATOR, '--inside', '--', ...EMULATED, '--project', 'emulated'],
  },
};

await runParts(chosen(process.argv.slice(2)));

function chosen(names: readonly string[]): Parts {
  if (names.length === 0) return Object.assign({}, ...Object.values(SUITES));
  if (names.join() === 'root') return rootSuite();
  if (names.every((name) => Object.hasOwn(SUITES, name)))
    return Object.assign({}, ...names.map((name) => SUITES[name]));
  return { tests: [...VITEST, ...names] };
}

/** Root passes some tests for other reasons than an ordinary user, or skips them. */
function rootSuite(): Parts {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT, exclude: ['test/**/*.lab.test.ts'] });
  const different = files.filter((file) => readFileSync(join(ROOT, file), 'utf8').includes('process.getuid'));
  return {
    'tests that differ for root': [...VITEST, ...different, 'test/service/smoke'],
    'attacks that need root': ['node', 'test/security/main.ts', 'no-namespaces'],
  };
}
