import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, globSync, mkdirSync, mkdtempSync, readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { removeTree } from '../../functions/engines/worker/linux/remove.ts';
import { textSetting } from '../../functions/shared/settings/environment.ts';
import { exitOf, hasFailures, PART, RESULTS, readResults, record, summarize } from './results.ts';

/** Commands by the name of the part of a run that each is. */
export type Parts = Readonly<Record<string, readonly string[]>>;

export const ROOT = join(import.meta.dirname, '../..');
export const VITEST = ['vitest', 'run', '--config', 'test/vitest.config.ts'];

/**
 * Runs parts one after the other and prints a summary. A failure does not keep the others from running. Each part must leave nothing in
 * its temporary folder. Exits with 1 if something failed.
 */
export async function runParts(parts: Parts): Promise<void> {
  const temporary = mkdtempSync(join(tmpdir(), 'docmill-test-'));
  const folder = join(temporary, 'tmp');
  const cache = join(temporary, 'cache');
  for (const each of [folder, cache]) mkdirSync(each);
  // Some tests of root start processes of another user.
  for (const each of [temporary, folder]) chmodSync(each, 0o711);
  const file = textSetting(RESULTS, join(temporary, 'results'));
  // Stops the part that runs, and starts no other.
  const stopping = new AbortController();
  for (const name of ['SIGINT', 'SIGTERM']) process.once(name, () => stopping.abort());
  const before = readResults(file).length;
  await compileWorkers(cache);
  for (const [part, command] of Object.entries(parts)) {
    if (stopping.signal.aborted) break;
    process.stdout.write(`\n== ${part} ==\n`);
    const env = {
      ...process.env,
      PATH: [join(ROOT, 'node_modules/.bin'), textSetting('PATH', '')].join(delimiter),
      TMPDIR: folder,
      // npm and Node would cache in the temporary folder.
      NODE_COMPILE_CACHE: cache,
      [RESULTS]: file,
      [PART]: part,
    };
    await runPart(part, command, { env, signal: stopping.signal, folder, file });
  }
  const results = readResults(file).slice(before);
  await removeTree(temporary);
  process.stdout.write(`\n${summarize(results)}`);
  process.exitCode = hasFailures(results) ? 1 : 0;
}

/** Fills the cache with the code of workers, which are killed or can only read it. Without a service, each ends after its imports. */
async function compileWorkers(cache: string): Promise<void> {
  const options = {
    cwd: cache,
    env: { ...process.env, NODE_COMPILE_CACHE: cache },
    stdio: 'ignore',
  } as const;
  for (const path of globSync('functions/**/{worker,*-thread}.ts', { cwd: ROOT }))
    await once(spawn(process.execPath, [join(ROOT, path)], options), 'exit');
}

/** Runs a part, and adds a result for what its own results cannot contain: its time, that it failed as a whole, or left files. */
async function runPart(
  part: string,
  [command, ...args]: readonly string[],
  run: {
    readonly env: NodeJS.ProcessEnv;
    readonly signal: AbortSignal;
    readonly folder: string;
    readonly file: string;
  },
): Promise<void> {
  const { env, signal, folder, file } = run;
  const known = readResults(file).length;
  const started = Date.now();
  const child = spawn(command!, args, { cwd: ROOT, env, stdio: ['ignore', 'inherit', 'inherit'] });
  const stop = () => child.kill();
  signal.addEventListener('abort', stop);
  const [status, endedBy] = await once(child, 'exit');
  signal.removeEventListener('abort', stop);
  const seconds = Math.round((Date.now() - started) / 1000);
  const added = readResults(file).slice(known);
  const failed =
    status !== 0 && !hasFailures(added) ? [exitOf([command, ...args].join(' '), status ?? endedBy)] : [];
  const left = readdirSync(folder).map((name) => ({ name, reason: 'left in the temporary folder' }));
  for (const { name } of left) await removeTree(join(folder, name));
  const isOneTest = added.length === 0 && failed.length === 0;
  record({ part, seconds, passed: isOneTest ? 1 : 0, failed: [...failed, ...left], skipped: [] }, file);
}
