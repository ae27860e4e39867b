import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  chmodSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { cp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';
import { killOrphans } from '../../functions/engines/worker/linux/orphans.ts';
import { removeTree } from '../../functions/engines/worker/linux/remove.ts';
import { textSetting } from '../../functions/shared/settings/environment.ts';
import { chooseNames, readArguments, textTable } from '../run/report.ts';
import { AREAS, type Fault } from './list.ts';

/** Maximum milliseconds of one command. */
const COMMAND_TIME = 240_000;
const LINKED = ['node_modules', 'dist'];
const OMITTED = [...LINKED, '.git', 'data', 'cdk.out'];

/** A copy of the project in which faults are applied, so that the project itself does not change. */
class Copy {
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

// Applies small faults one by one to a copy of the project, and tells which of them `npm test` notices. Fails if it notices
// fewer than before. `--json FILE` records each step, so that a run that was stopped continues there; `--root DIR` tests
// another checkout with the same faults.

/** Who noticed a fault: the compiler, or a suite of tests. */
const SUITES = ['check', 'unit', 'engines', 'service', 'aws'] as const;
type Suite = (typeof SUITES)[number];
/** The steps in which faults are tried. The quickest comes first. */
type Step = 'mirrored units' | 'check' | 'related units' | 'others';

interface Attempt {
  readonly fault: string;
  readonly step: Step;
  /** The test file that noticed the fault. */
  readonly by?: string | undefined;
}

const { values, fail } = readArguments(
  'node test/faults/main.ts [--only=AREA,…] [--root=DIR] [--json=FILE]',
  {
    only: { type: 'string', default: '' },
    root: { type: 'string', default: join(import.meta.dirname, '../..') },
    json: { type: 'string' },
  },
);
const root = resolve(values.root);
const areas = chooseNames(Object.keys(AREAS), values.only.split(',').filter(Boolean), fail);
const tests = globSync('test/**/*.test.ts', { cwd: root }).filter((path) => !path.endsWith('.lab.test.ts'));
const units = tests.filter((path) => suiteOf(path) === 'unit');
const others = tests.filter((path) => suiteOf(path) !== 'unit');
const attempts = readAttempts();
/** Whether a test file passes without any fault, by its path. */
const passing = new Map<string, boolean>();

const copy = await Copy.of(root);
for (const name of ['SIGINT', 'SIGTERM'])
  process.once(name, () => void copy.remove().finally(() => process.exit(1)));
const all = areas.flatMap((area) => AREAS[area]!.faults);
const faults = all.filter((fault) => copy.has(fault));
await tryEach('mirrored units', (fault) =>
  noticed(
    fault,
    units.filter((path) => mirrors(path, fault)),
    ['--project', 'unit'],
  ),
);
await compile();
await tryEach('related units', (fault) => {
  if (!fault.file.endsWith('.ts')) return undefined;
  const known = units.filter((path) => mirrors(path, fault)).flatMap((path) => ['--exclude', path]);
  return noticed(fault, ['related', fault.file], ['--project', 'unit', ...known]);
});
await tryEach('others', tryOthers);
await copy.remove();
process.exitCode = report() ? 0 : 1;

async function tryEach(step: Step, attempt: (fault: Fault) => Promise<string | undefined> | undefined) {
  for (const fault of faults) {
    if (isDone(fault, step)) continue;
    const by = await attempt(fault);
    note(fault, step, by);
  }
}

/** Tries many faults at once, one of each file, because compiling takes long. An error in its file means that a fault is noticed. */
async function compile(): Promise<void> {
  const left = faults.filter((fault) => !isDone(fault, 'check'));
  while (left.length > 0) {
    let batch = left.filter(({ file }, index) => left.findIndex((other) => other.file === file) === index);
    for (const fault of batch) left.splice(left.indexOf(fault), 1);
    for (let wrong = true; wrong; ) {
      const files = new Set(await copy.with(batch, () => copy.compile()));
      const guilty = batch.filter(({ file }) => files.has(file));
      if (files.size > 0 && guilty.length === 0) throw new Error(`Errors in ${[...files]}.`);
      for (const fault of guilty) note(fault, 'check', 'check');
      batch = batch.filter((fault) => !guilty.includes(fault));
      wrong = guilty.length > 0;
    }
    for (const fault of batch) note(fault, 'check', undefined);
  }
}

/** Tries the tests of the other suites: those that mirror the file, and then the ones that the fault names. */
async function tryOthers(fault: Fault): Promise<string | undefined> {
  const tried = new Set<string>();
  const groups = fault.tests.map((text) => text.split(' -t '));
  for (const [part, title] of [[undefined], ...groups]) {
    const paths = others.filter(
      (path) => !tried.has(path) && (part === undefined ? mirrors(path, fault) : path.includes(part)),
    );
    for (const path of paths) tried.add(path);
    const by = await noticed(fault, paths, title === undefined ? [] : ['-t', title]);
    if (by !== undefined) return by;
  }
  return undefined;
}

/** Returns the test file that fails with a fault, but passes without it. */
async function noticed(fault: Fault, paths: readonly string[], options: readonly string[]) {
  for (;;) {
    const broken = [...passing].filter(([, passes]) => !passes).map(([path]) => path);
    // vitest does not exclude a file that is named.
    const open = paths.filter((path) => !broken.includes(path));
    if (open.length === 0) return undefined;
    const exclude = broken.flatMap((path) => ['--exclude', path]);
    const failed = await copy.with([fault], () => copy.test([...open, ...options, ...exclude]));
    if (failed.length === 0) return undefined;
    for (const path of failed) {
      if (!tests.includes(path)) return path;
      if (!passing.has(path)) passing.set(path, (await copy.test([path])).length === 0);
      if (passing.get(path)) return path;
      process.stdout.write(`fails without a fault, too: ${path}\n`);
    }
  }
}

/** Whether a test file is at the path that mirrors the file of a fault. */
function mirrors(path: string, { file }: Fault): boolean {
  return path.startsWith(`test/${file.replace(/\.\w+$/, '')}.`);
}

function suiteOf(path: string): Suite {
  const suite = /\.(engine|service|aws)\.test\.ts$/.exec(path)?.[1] ?? 'unit';
  return suite === 'engine' ? 'engines' : (suite as Suite);
}

function idOf({ file, find, replace }: Fault): string {
  return `${file}: ${JSON.stringify(find)} → ${JSON.stringify(replace)}`;
}

function isDone(fault: Fault, step: Step): boolean {
  const id = idOf(fault);
  return attempts.some((each) => each.fault === id && (each.by !== undefined || each.step === step));
}

function note(fault: Fault, step: Step, by: string | undefined): void {
  const attempt: Attempt = { fault: idOf(fault), step, by };
  attempts.push(attempt);
  if (values.json !== undefined) appendFileSync(values.json, `${JSON.stringify(attempt)}\n`);
  if (by !== undefined || step === 'others')
    process.stdout.write(
      `${by === undefined ? 'NOT NOTICED' : 'noticed'} ${attempt.fault} (${by ?? 'no test'})\n`,
    );
}

function readAttempts(): Attempt[] {
  if (values.json === undefined || !existsSync(values.json)) return [];
  const lines = readFileSync(values.json, 'utf8').trimEnd().split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line) as Attempt);
}

/** Prints the table, and the faults that nobody noticed. Returns whether as many were noticed as before. */
function report(): boolean {
  const byOf = (fault: Fault) => attempts.find((each) => each.fault === idOf(fault) && each.by)?.by;
  const rows = areas.map((area) => {
    const own = AREAS[area]!.faults.filter((fault) => faults.includes(fault));
    const suites = own.map(byOf).map((by) => by && (by === 'check' ? 'check' : suiteOf(by)));
    const counts = SUITES.map((suite) => suites.filter((each) => each === suite).length);
    return [own.length, suites.filter(Boolean).length, ...counts];
  });
  const total = rows.reduce((sums, row) => sums.map((sum, column) => sum + row[column]!));
  const lines = [...areas, 'all'].map((area, index) => [area, ...(rows[index] ?? total)]);
  const table = [['area', 'faults', 'noticed', ...SUITES], ...lines];
  const align = (column: number) => (column === 0 ? 'left' : 'right');
  const share = ((100 * total[1]!) / total[0]!).toFixed(1);
  const omitted = all
    .filter((fault) => !faults.includes(fault))
    .map((fault) => `not applicable: ${idOf(fault)}`);
  const missed = faults.filter((fault) => !byOf(fault)).map((fault) => `NOT NOTICED: ${idOf(fault)}`);
  const text = [textTable(table, align), `${share} % noticed`, ...omitted, ...missed].join('\n');
  process.stdout.write(`\n${text}\n`);
  return areas.every((area, index) => rows[index]![0]! - rows[index]![1]! <= AREAS[area]!.unnoticed);
}
