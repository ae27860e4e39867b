import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../layers/build/compile.ts';
import { list } from '../helpers/list.ts';
import { buildFilter } from './kernel.ts';

const ROOT = join(import.meta.dirname, '../..');
const [EPERM, ENOSYS] = [1, 38];
let directory: string;
let errors: ReadonlyMap<string, number>;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'filter-test-'));
  const calls = join(directory, 'calls');
  await compile({
    sources: [join(ROOT, 'test/layers/sandbox/calls.c')],
    ownStart: true,
    output: calls,
    cache: join(ROOT, 'dist/cache/apt'),
    progress: () => undefined,
  });
  const { stdout } = spawnSync(await buildFilter(() => undefined), [calls], { encoding: 'utf8' });
  errors = new Map([...stdout.matchAll(/^(.+) (\d+)$/gm)].map(([, name, error]) => [name!, Number(error)]));
}, 300_000);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

describe("Lambda's system call filter", () => {
  it.each(list`
    prctl, seccomp, ptrace, chroot, mount, setns, unshare, fallocate, keyctl, bpf, perf_event_open, add_key,
    request_key, clone into a namespace
  `)('denies %s', (name) => {
    expect(errors.get(name)).toBe(EPERM);
  });

  it.each(['clone3', 'landlock_create_ruleset'])('has no %s', (name) => {
    expect(errors.get(name)).toBe(ENOSYS);
  });

  it.each(['clone', 'socket', 'socketpair', 'a signal to itself'])('allows %s', (name) => {
    expect(errors.get(name)).toBe(0);
  });
});
