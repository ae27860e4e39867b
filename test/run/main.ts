// `npm test` runs all suites, `npm test -- SUITE…` some of them, and `npm test -- PATH…` the test files whose path contains one of
// the arguments; `npm test -- root` those that differ for root. A failure does not keep the other parts from running.
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, globSync, mkdirSync, mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { removeTree } from '../../functions/engines/worker/linux/remove.ts';
import { textSetting } from '../../functions/shared/settings/environment.ts';
import { exitOf, hasFailures, PART, RESULTS, readResults, record, summarize } from './results.ts';

/** The parts of a suite, each with its command. */
type Suite = Readonly<Record<string, readonly string[]>>;

const ROOT = join(import.meta.dirname, '../..');
const VITEST = ['vitest', 'run', '--config', 'test/vitest.config.ts'];
const EMULATOR = ['node', 'test/lambda-emulator/main.ts'];
const EMULATED = 'test/emulated/vitest.config.ts';
const ATTACKS = ['browser-rebinding', 'runtime-api', 'direct-events', 'queries', 'load', 'api-key'];

const SUITES: Readonly<Record<string, Suite>> = {
  check: { check: ['npm', 'run', 'check'] },
  unit: { 'unit tests': [...VITEST, '--project', 'unit', '--maxWorkers', '4'] },
  engines: { 'engine tests': [...VITEST, '--project', 'engines'] },
  service: { 'service tests': [...VITEST, '--project', 'service'] },
  aws: {
    'AWS tests': [...VITEST, '--project', 'aws'],
    'service tests in the Lambda emulator': [...EMULATOR, '--', ...VITEST, 'test/service'],
    'tests of the Lambda emulator': [...EMULATOR, '--inside', '--', 'vitest', 'run', '--config', EMULATED],
    'attacks on the Lambda emulator': ['node', 'test/security/main.ts', '--aws', '--brief', ...ATTACKS],
  },
};

const names = process.argv.slice(2);
const temporary = mkdtempSync(join(tmpdir(), 'docmill-test-'));
// Parts get a temporary folder of their own, in which nothing may be left at the end.
const parts = { folder: join(temporary, 'tmp'), results: textSetting(RESULTS, join(temporary, 'results')) };
const CACHE = join(temporary, 'cache');
for (const folder of [parts.folder, CACHE]) mkdirSync(folder);
// Some tests of root start processes of another user.
for (const folder of [temporary, parts.folder]) chmodSync(folder, 0o711);
// Stops the part that runs, and starts no other.
const stopping = new AbortController();
const { signal } = stopping;
for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stopping.abort());
const before = readResults(parts.results).length;
await compileWorkers();
for (const [part, command] of Object.entries(chosen())) if (!signal.aborted) await run(part, command);
const results = readResults(parts.results).slice(before);
await removeTree(temporary);
process.stdout.write(`\n${summarize(results)}`);
process.exitCode = hasFailures(results) ? 1 : 0;

function chosen(): Suite {
  if (names.length === 0) return Object.assign({}, ...Object.values(SUITES));
  if (names.join() === 'root') return rootSuite();
  if (names.every((name) => Object.hasOwn(SUITES, name)))
    return Object.assign({}, ...names.map((name) => SUITES[name]));
  return { tests: [...VITEST, ...names] };
}

/** Root passes some tests for other reasons than an ordinary user, or skips them. */
function rootSuite(): Suite {
  const files = globSync('test/**/*.test.ts', { cwd: ROOT });
  const different = files.filter((file) => readFileSync(join(ROOT, file), 'utf8').includes('process.getuid'));
  return {
    'tests that differ for root': [...VITEST, ...different, 'test/service/smoke'],
    'attacks that need root': ['node', 'test/security/main.ts', '--brief', 'no-namespaces'],
  };
}

/** Fills the cache with the code of workers, which are killed or can only read it. Without a service, each ends after its imports. */
async function compileWorkers(): Promise<void> {
  const options = {
    cwd: CACHE,
    env: { ...process.env, NODE_COMPILE_CACHE: CACHE },
    stdio: 'ignore',
  } as const;
  for (const path of globSync('functions/**/{worker,*-thread}.ts', { cwd: ROOT }))
    await once(spawn(process.execPath, [join(ROOT, path)], options), 'exit');
}

/** Runs a part, and adds a result for what its own results cannot contain: that it failed as a whole, or left files. */
async function run(part: string, [command, ...args]: readonly string[]): Promise<void> {
  process.stdout.write(`\n== ${part} ==\n`);
  const env = {
    ...process.env,
    PATH: [join(ROOT, 'node_modules/.bin'), textSetting('PATH', '')].join(delimiter),
    TMPDIR: parts.folder,
    // npm and Node would cache in the temporary folder.
    NODE_COMPILE_CACHE: CACHE,
    [RESULTS]: parts.results,
    [PART]: part,
  };
  const known = readResults(parts.results).length;
  const child = spawn(command!, args, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const stop = () => child.kill();
  signal.addEventListener('abort', stop);
  const [status, endedBy] = await once(child, 'exit');
  signal.removeEventListener('abort', stop);
  const added = readResults(parts.results).slice(known);
  const failed =
    status !== 0 && !hasFailures(added) ? [exitOf([command, ...args].join(' '), status ?? endedBy)] : [];
  const left = readdirSync(parts.folder).map((name) => ({ name, reason: 'left in the temporary folder' }));
  for (const { name } of left) await removeTree(join(parts.folder, name));
  const isOneTest = added.length === 0 && failed.length === 0;
  if (isOneTest || failed.length + left.length > 0)
    record({ part, passed: isOneTest ? 1 : 0, failed: [...failed, ...left], skipped: [] }, parts.results);
}
