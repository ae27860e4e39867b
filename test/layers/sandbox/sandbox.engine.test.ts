import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../../layers/build/compile.ts';
import { ENTER_SOURCES } from '../../../layers/sandbox/build.ts';
import { list } from '../../helpers/list.ts';
import { buildFilter } from '../../lambda-emulator/kernel.ts';
import { DENIED, FORBIDDEN } from './denied.ts';

const ROOT = join(import.meta.dirname, '../../..');
const [EPERM, EBADF, EACCES, ENOSYS, ELOOP, EOPNOTSUPP] = [1, 9, 13, 38, 40, 95];
const NOTHING = '0'.repeat(16);
let directory: string;
let enter: string;
let errors: ReadonlyMap<string, number>;
let filter: string;

// Built from the sources, so that the test covers their current state.
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'sandbox-test-'));
  mkdirSync(join(directory, 'home'));
  enter = join(directory, 'enter');
  const calls = join(directory, 'calls');
  const request = {
    ownStart: true,
    cache: join(ROOT, 'dist/cache/apt'),
    progress: () => undefined,
  };
  await compile({ ...request, sources: ENTER_SOURCES, output: enter });
  await compile({ ...request, sources: [join(import.meta.dirname, 'calls.c')], output: calls });
  filter = await buildFilter(() => undefined);
  errors = errorsOf(run(calls).stdout);
}, 300_000);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function run(program: string, args: readonly string[] = []) {
  const home = join(directory, 'home');
  const system = ['/lib', '/lib64', '/usr', '/etc/ld.so.cache', '/proc/self'];
  return spawnSync(enter, [home, ...system, '--', program, ...args], { encoding: 'utf8' });
}

function errorsOf(text: string): ReadonlyMap<string, number> {
  return new Map([...text.matchAll(/^(.+) (\d+)$/gm)].map(([, name, error]) => [name!, Number(error)]));
}

describe('where the kernel denies further filters, as on Lambda', () => {
  const underFilter = (mode: string | undefined, ...args: string[]) =>
    spawnSync(filter, [enter, ...args], {
      encoding: 'utf8',
      env: mode === undefined ? {} : { SANDBOX: mode },
    });
  const start = () => [join(directory, 'home'), '--', '/bin/echo', 'started'];

  it.each([undefined, 'required', 'best', ''])('starts no program with SANDBOX=%s', (mode) => {
    const { status, stdout } = underFilter(mode, ...start());

    expect({ status, stdout }).toEqual({ status: 3, stdout: '' });
  });

  it('starts the program with SANDBOX=best-effort', () => {
    expect(underFilter('best-effort', ...start())).toMatchObject({ status: 0, stdout: 'started\n' });
  });

  it('reports that no part of the sandbox is available', () => {
    expect(underFilter('best-effort', '--probe').stdout).toBe('3 0\n');
  });
});

describe('the sandbox', () => {
  it.each([
    ...list`
      socket, socket of the machine, datagrams of the machine, socketpair, connect, io_uring_setup, io_uring_enter,
      execveat, ptrace, process_vm_readv, process_vm_writev, pidfd_open, pidfd_getfd, pidfd_send_signal, prlimit64,
      clone, bpf, perf_event_open, userfaultfd, keyctl, add_key, request_key, mount, unshare, setns,
      open_by_handle_at, kill, tgkill, a thread with files of its own, CLOSE_RANGE_UNSHARE, memfd_create,
      memfd_secret, vmsplice, FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR, PR_SET_DUMPABLE,
      io_uring_register, a program by its path, sendmsg, sendmmsg, tkill, rt_sigqueueinfo, rt_tgsigqueueinfo,
      F_SETOWN, F_SETOWN_EX, FIOSETOWN, SIOCSPGRP, inotify_init1, inotify_add_watch, fanotify_init, fanotify_mark,
      name_to_handle_at, shmget, semget, msgget, mq_open, syncfs, PR_SET_PDEATHSIG, setsid, setpgid, execve,
      a program in memory
    `,
    ...(process.arch === 'x64' ? ['fork', 'vfork', 'inotify_init'] : []),
    ...DENIED,
  ])('rejects %s', (name) => {
    expect(errors.get(name)).toBe(EACCES);
  });

  it.each([
    ...list`
      fchmod, fchmodat, fchown, fchownat, utimensat, setxattr, lsetxattr, fsetxattr, removexattr, setpriority,
      ioprio_set, sched_setparam, sched_setscheduler, sched_setattr
    `,
    'sched_setaffinity',
    ...(process.arch === 'x64' ? ['chmod', 'chown', 'utime', 'utimes'] : []),
    ...FORBIDDEN,
  ])('forbids %s', (name) => {
    expect(errors.get(name)).toBe(EPERM);
  });

  it('lets a program write into its own directory, but not into one that it reads', () => {
    const [own, readable] = [join(directory, 'home'), mkdtempSync(join(tmpdir(), 'readable-'))];
    const touch = (folder: string) => {
      const system = ['/lib', '/lib64', '/usr', '/etc/ld.so.cache', '/proc/self'];
      spawnSync(enter, [own, ...system, readable, '--', '/usr/bin/touch', join(folder, 'file')]);
      return readdirSync(folder).includes('file');
    };

    const written = [touch(own), touch(readable)];

    rmSync(readable, { recursive: true });
    expect(written).toEqual([true, false]);
  });

  it('does not pass on the descriptor with which it starts its program', () => {
    expect(errors.get('the descriptor of the first start')).toBe(EBADF);
    expect(errors.get('its program')).toBe(EBADF);
    expect(errors.get('more descriptors')).toBe(EPERM);
  });

  it('starts no program by a path, which would override the descriptor', () => {
    expect(errors.get('a program by its path')).toBe(EACCES);
    expect(errors.get('a program by a link')).toBe(ELOOP);
  });

  it('has no openat2, which keeps its flags in memory', () => {
    expect(errors.get('openat2')).toBe(ENOSYS);
  });

  it('has no clone3, so that threads are created by a call whose flags a filter can read', () => {
    expect(errors.get('clone3')).toBe(ENOSYS);
  });

  it.each(list`
    a signal to itself, its own limits, a file that is written anew, a file that is changed anew, a usual umask
  `)('allows %s', (name) => {
    expect(errors.get(name)).toBe(0);
  });

  it.each(['fsync', 'fdatasync', 'sync_file_range', 'msync'])('does not wait for the disk in %s', (name) => {
    // Without the filter, there is no file -1.
    expect(errors.get(name)).toBe(0);
  });

  it('has no space to reserve, so that a full disk is noticed in time', () => {
    expect(errors.get('fallocate')).toBe(EOPNOTSUPP);
  });

  it('drops all root capabilities except reading, and a program cannot regain them', () => {
    const { stdout } = run('/bin/cat', ['/proc/self/status']);

    const status = new Map([...stdout.matchAll(/^(\w+):\s*(\S+)/gm)].map(([, name, value]) => [name, value]));
    expect(status.get('CapEff')).toMatch(/^0{15}[04]$/);
    expect(status.get('CapPrm')).toBe(status.get('CapEff'));
    expect([status.get('CapInh'), status.get('CapAmb')]).toEqual([NOTHING, NOTHING]);
    expect([status.get('NoNewPrivs'), status.get('Seccomp')]).toEqual(['1', '2']);
  });

  it('reports what the kernel does not provide', () => {
    const { stdout, status } = spawnSync(enter, ['--probe'], { encoding: 'utf8' });

    expect(status).toBe(0);
    // Files stay accessible if the kernel has no Landlock.
    expect(stdout).toMatch(/^[01] \d+\n$/);
  });

  it('needs no newer C library than Node, although the compiler has one', () => {
    const asked = [...readFileSync(enter, 'latin1').matchAll(/GLIBC_2\.(\d+)/g)];

    expect(asked.length).toBeGreaterThan(0);
    for (const [, minor] of asked) expect(Number(minor)).toBeLessThanOrEqual(28);
  });
});
