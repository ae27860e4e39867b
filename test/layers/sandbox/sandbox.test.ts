import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../../layers/build/compile.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SANDBOX = join(ROOT, 'layers/sandbox');
const [EACCES, ENOSYS] = [13, 38];
const NOTHING = '0'.repeat(16);
let directory: string;
let enter: string;
let errors: ReadonlyMap<string, number>;
let piped: ReadonlyMap<string, number>;

// From the sources beside this test, not from the layer: what is tried is what they say now.
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sandbox-test-'));
  for (const name of ['home', 'conversions', 'compiler']) mkdirSync(join(directory, name));
  enter = join(directory, 'enter');
  const calls = join(directory, 'calls');
  const request = {
    ownStart: true,
    scratch: join(directory, 'compiler'),
    cache: join(ROOT, 'dist/cache/apt'),
    progress: () => undefined,
  };
  const sources = ['enter.c', 'sandbox.c'].map((name) => join(SANDBOX, name));
  await compile({ ...request, sources, output: enter });
  await compile({ ...request, sources: [join(import.meta.dirname, 'calls.c')], output: calls });
  errors = errorsOf(run(calls).stdout);
  piped = errorsOf(run(calls, [], ['--pipes', directory]).stdout);
}, 300_000);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function run(program: string, args: readonly string[] = [], options: readonly string[] = []) {
  const places = ['home', 'conversions'].map((name) => join(directory, name));
  const system = ['/lib', '/lib64', '/usr', '/etc/ld.so.cache', '/proc/self'];
  return spawnSync(enter, [...options, ...places, ...system, '--', program, ...args], { encoding: 'utf8' });
}

function errorsOf(text: string): ReadonlyMap<string, number> {
  return new Map([...text.matchAll(/^(.+) (\d+)$/gm)].map(([, name, error]) => [name!, Number(error)]));
}

describe('the sandbox', () => {
  it.each([
    ...[
      'socket',
      'socket of the machine',
      'datagrams of the machine',
      'socketpair',
      'connect',
      'io_uring_setup',
      'io_uring_enter',
    ],
    ...['execveat', 'ptrace', 'process_vm_readv', 'process_vm_writev', 'pidfd_open', 'pidfd_getfd'],
    ...['pidfd_send_signal', 'prlimit64', 'clone', 'bpf', 'perf_event_open', 'userfaultfd', 'keyctl'],
    ...['add_key', 'request_key', 'mount', 'unshare', 'setns', 'open_by_handle_at', 'kill', 'tgkill'],
    ...['tkill', 'rt_sigqueueinfo', 'rt_tgsigqueueinfo', 'F_SETOWN', 'F_SETOWN_EX', 'FIOSETOWN', 'SIOCSPGRP'],
    ...(process.arch === 'x64' ? ['fork', 'vfork'] : []),
  ])('refuses %s', (name) => {
    expect(errors.get(name)).toBe(EACCES);
  });

  it('knows no clone3, so that threads are made by a call that can be judged', () => {
    expect(errors.get('clone3')).toBe(ENOSYS);
  });

  it.each(['a signal to itself', 'its own limits'])('allows %s', (name) => {
    expect(errors.get(name)).toBe(0);
  });

  it('with a place for pipes lets a socket be made that others call, and nothing more', () => {
    const more = [...piped].filter(([name, error]) => errors.get(name) !== error);

    expect(more).toEqual([['socket of the machine', 0]]);
  });

  it('takes from root all but reading, and cannot be left by a program with more rights', () => {
    const { stdout } = run('/bin/cat', ['/proc/self/status']);

    const status = new Map([...stdout.matchAll(/^(\w+):\s*(\S+)/gm)].map(([, name, value]) => [name, value]));
    expect(status.get('CapEff')).toMatch(/^0{15}[04]$/);
    expect(status.get('CapPrm')).toBe(status.get('CapEff'));
    expect([status.get('CapInh'), status.get('CapAmb')]).toEqual([NOTHING, NOTHING]);
    expect([status.get('NoNewPrivs'), status.get('Seccomp')]).toEqual(['1', '2']);
  });

  it('needs no newer C library than Node, though the compiler has one', () => {
    const asked = [...readFileSync(enter, 'latin1').matchAll(/GLIBC_2\.(\d+)/g)];

    expect(asked.length).toBeGreaterThan(0);
    for (const [, minor] of asked) expect(Number(minor)).toBeLessThanOrEqual(28);
  });
});
