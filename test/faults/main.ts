// Applies small faults one by one to a copy of the project, and tells which of them `npm test` notices. Fails if it notices
// fewer than before. `--json FILE` records each step, so that a run that was stopped continues there; `--root DIR` tests
// another checkout with the same faults.
import { appendFileSync, existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { chooseNames, readArguments, textTable } from '../run/report.ts';
import { Copy } from './copy.ts';
import { AREAS, type Fault } from './list.ts';

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
