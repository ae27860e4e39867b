import { execFile } from 'node:child_process';
import { cp, mkdir, mkdtemp, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { killOrphans } from '../../../functions/engines/worker/linux/orphans.ts';
import { inParallel } from '../../../layers/parallel.ts';
import { type Mutation, mutations, ROOT } from '../mutations/mutations.ts';
import { amount, type Row } from '../row.ts';

const COPIED = ['functions', 'infra', 'layers', 'test', 'package.json', 'tsconfig.json'];
const LINKED = ['node_modules', 'dist'];
const LANES = 2;

/** Removes one rule after the other from a copy of the project, and runs the tests that must fail. */
export const rules: Row = {
  name: 'rules',
  title: 'deny rules removed one by one',
  figures: 'removals that no test detected',
  target: 'each, 0',
  async run(effort) {
    const { progress } = effort;
    const all = mutations();
    const step = amount(effort, 6, { all: 1 });
    const chosen = all.filter((_, index) => index % step === 0);
    const copies: string[] = [];
    for (let lane = 0; lane < LANES; lane++) copies.push(await copyProject());
    let done = 0;
    try {
      const broken = await alreadyFailing(chosen, copies[0]!);
      const fates = await inParallel(chosen, LANES, async (mutation) => {
        const copy = copies.pop()!;
        const fate = await noticed(mutation, copy);
        copies.push(copy);
        progress(++done, chosen.length);
        return { mutation, fate };
      });
      const unnoticed = fates.flatMap(({ mutation: { name, file }, fate }) =>
        fate === 'noticed' ? [] : [`${file}, ${name}: ${fate}`],
      );
      const failures = [...broken, ...unnoticed];
      return { figure: `${chosen.length}, ${unnoticed.length}`, failures };
    } finally {
      for (const copy of copies) await rm(copy, { recursive: true });
    }
  },
};

async function copyProject(): Promise<string> {
  const copy = await mkdtemp(join(tmpdir(), 'rules-'));
  for (const name of COPIED) await cp(join(ROOT, name), join(copy, name), { recursive: true });
  await mkdir(join(copy, 'temporary'));
  for (const name of LINKED) await symlink(join(ROOT, name), join(copy, name));
  return copy;
}

/** A test that fails anyway detects nothing. */
async function alreadyFailing(chosen: readonly Mutation[], copy: string): Promise<string[]> {
  const suites = new Map(chosen.map(({ tests }) => [tests.join(' '), tests]));
  const failing: string[] = [];
  for (const [name, tests] of suites) if (!(await passes(tests, copy))) failing.push(name);
  return failing.map((name) => `fails with every rule in place: ${name}`);
}

async function noticed({ file, find, replace, tests }: Mutation, copy: string): Promise<string> {
  const path = join(copy, file);
  const text = await readFile(path, 'utf8');
  const parts = text.split(find);
  if (parts.length !== 2)
    return `stands ${parts.length - 1} times in the source; the list of rules is out of date`;
  await writeFile(path, parts.join(replace));
  try {
    return (await passes(tests, copy)) ? 'NOT noticed' : 'noticed';
  } finally {
    await writeFile(path, text);
  }
}

function passes(tests: readonly string[], cwd: string): Promise<boolean> {
  const args = [
    'node_modules/vitest/vitest.mjs',
    'run',
    '--config',
    'test/vitest.config.ts',
    '--bail=1',
    ...tests,
  ];
  const env = { ...process.env, TMPDIR: join(cwd, 'temporary') };
  return new Promise((resolve) => {
    execFile(process.execPath, args, { cwd, env, timeout: 300_000 }, async (error) => {
      // The removed rule may be the one that ends engines.
      await killOrphans(cwd);
      resolve(error === null);
    });
  });
}
