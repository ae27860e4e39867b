// `npm test` runs everything; `npm test -- PATH…` runs the test files whose path contains one of the arguments.
import { spawnSync } from 'node:child_process';

const VITEST = ['run', '--config', 'test/vitest.config.ts'];
const paths = process.argv.slice(2);

if (paths.length > 0) run('vitest', ...VITEST, ...paths);
else {
  run('npm', 'run', 'check');
  run('vitest', ...VITEST, '--project', 'unit', '--project', 'engines', '--project', 'service');
  run('npm', 'run', 'test:aws');
}

/** Runs one command and exits with its code if it failed. */
function run(command: string, ...args: string[]): void {
  const { status, error } = spawnSync(command, args, { stdio: 'inherit' });
  if (error) throw error;
  if (status !== 0) process.exit(status ?? 1);
}
