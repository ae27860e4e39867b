import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { killOrphans } from '../../functions/engines/worker/linux/orphans.ts';
import { removeTree } from '../../functions/engines/worker/linux/remove.ts';
import { textSetting } from '../../functions/shared/settings/environment.ts';
import type { Fault } from './list.ts';

/** Maximum milliseconds of one command. */
const COMMAND_TIME = 240_000;
const LINKED = ['node_modules', 'dist'];
const OMITTED = [...LINKED, '.git', 'data', 'cdk.out'];

/** A copy of the project in which faults are applied, so that the project itself does not change. */
export class Copy {
  readonly #folder = mkdtempSync(join(tmpdir(), 'faults-'));
  readonly #root = join(this.#folder, 'project');
  readonly #temporary = join(this.#folder, 'tmp');
  readonly #report = join(this.#folder, 'report.json');
  #running: ChildProcess | undefined;
  #isRemoved = false;

  static async of(project: string): Promise<Copy> {
    const copy = new Copy();
    // Some tests of root start processes of another user.
    chmodSync(copy.#folder, 0o711);
    const omitted = OMITTED.map((name) => join(project, name));
    await cp(project, copy.#root, { recursive: true, filter: (path) => !omitted.includes(path) });
    for (const name of LINKED) symlinkSync(join(project, name), join(copy.#root, name));
    return copy;
  }

  /** Whether the text of a fault occurs exactly once. */
  has({ file, find }: Fault): boolean {
    try {
      return this.#read(file).split(find).length === 2;
    } catch {
      return false;
    }
  }

  /** Runs work while faults, each in another file, are applied. */
  async with<Value>(faults: readonly Fault[], work: () => Promise<Value>): Promise<Value> {
    const texts = faults.map(({ file, find, replace }) => {
      const text = this.#read(file);
      writeFileSync(join(this.#root, file), text.split(find).join(replace));
      return { file, text };
    });
    try {
      return await work();
    } finally {
      for (const { file, text } of texts) writeFileSync(join(this.#root, file), text);
    }
  }

  /** Returns the paths of the files in which the compiler finds errors. */
  async compile(): Promise<readonly string[]> {
    const { text } = await this.#run('tsc', ['--noEmit', '--pretty', 'false']);
    return [...text.matchAll(/^(.+?)\(\d+,\d+\): error /gm)].map(([, file]) => file!);
  }

  /** Runs tests, and returns the paths of the files with a failed test: none if they pass or take too long. */
  async test(args: readonly string[]): Promise<readonly string[]> {
    rmSync(this.#report, { force: true });
    mkdirSync(this.#temporary, { mode: 0o711 });
    const vitest = ['--config', 'test/vitest.config.ts', '--run', '--bail', '1', '--passWithNoTests'];
    const report = ['--reporter', 'json', '--outputFile', this.#report, '--testTimeout', '100000'];
    const { status, text } = await this.#run('vitest', [...args, ...vitest, ...report]);
    // The fault may be in what ends processes or deletes files.
    await killOrphans(this.#folder);
    await removeTree(this.#temporary);
    if (status === 0 || status === 'timeout') return [];
    try {
      const { testResults } = JSON.parse(readFileSync(this.#report, 'utf8')) as Report;
      // The status of a file that was not finished is `failed`, too.
      const failed = testResults.filter(
        ({ message, assertionResults }) =>
          message !== '' || assertionResults.some(({ status }) => status === 'failed'),
      );
      return failed.length > 0
        ? failed.map(({ name }) => name.slice(this.#root.length + 1))
        : ['unhandled error'];
    } catch {
      return [`no report: ${text.slice(-200)}`];
    }
  }

  /** Deletes the copy. Work in it does not continue. */
  async remove(): Promise<void> {
    this.#isRemoved = true;
    if (this.#running?.pid !== undefined) process.kill(-this.#running.pid, 'SIGKILL');
    await killOrphans(this.#folder);
    await removeTree(this.#folder);
  }

  #read(file: string): string {
    return readFileSync(join(this.#root, file), 'utf8');
  }

  async #run(command: string, args: readonly string[]) {
    const bin = join(this.#root, 'node_modules/.bin');
    const env = {
      ...process.env,
      PATH: [bin, textSetting('PATH', '')].join(delimiter),
      TMPDIR: this.#temporary,
    };
    const child = spawn(join(bin, command), args, { cwd: this.#root, env, detached: true });
    this.#running = child;
    let text = '';
    for (const output of [child.stdout, child.stderr])
      output.on('data', (chunk) => {
        text += chunk;
      });
    let isLate = false;
    const timer = setTimeout(() => {
      isLate = true;
      process.kill(-child.pid!, 'SIGKILL');
    }, COMMAND_TIME);
    const [status] = (await once(child, 'close')) as [number | null];
    clearTimeout(timer);
    if (this.#isRemoved) await new Promise(() => {});
    this.#running = undefined;
    return { status: isLate ? 'timeout' : status, text };
  }
}

interface Report {
  readonly testResults: readonly {
    readonly name: string;
    readonly message: string;
    readonly assertionResults: readonly { readonly status: string }[];
  }[];
}
