import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { compile } from '../../../layers/build/compile.ts';
import { RULES_SOURCES } from '../../../layers/sandbox/build.ts';
import { list } from '../../helpers/list.ts';
import { DENIED, FORBIDDEN } from '../sandbox/denied.ts';

const ROOT = join(import.meta.dirname, '../../..');
const SANDBOX = join(ROOT, 'layers/chromium/sandbox');
const [EPERM, EBADF, EACCES, ENOSYS] = [1, 9, 13, 38];
let directory: string;
let enter: string;
let errors: ReadonlyMap<string, number>;
let ownErrors: ReadonlyMap<string, number>;
let withNamespaces: ReadonlyMap<string, number>;

// Built from the sources, so that the test covers their current state.
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'browser-sandbox-'));
  mkdirSync(join(directory, 'home'));
  enter = join(directory, 'enter');
  const [calls, ownCalls] = ['calls', 'browser-calls'].map((name) => join(directory, name)) as [
    string,
    string,
  ];
  const request = {
    ownStart: true,
    cache: join(ROOT, 'dist/cache/apt'),
    progress: () => undefined,
  };
  const sources = ['enter.c', 'browser_sandbox.c'].map((name) => join(SANDBOX, name));
  await compile({ ...request, sources: [...sources, ...RULES_SOURCES], output: enter });
  await compile({ ...request, sources: [join(ROOT, 'test/layers/sandbox/calls.c')], output: calls });
  const own = join(import.meta.dirname, 'browser-calls.c');
  await compile({ ...request, sources: [own], output: ownCalls });
  errors = errorsOf(run(calls).stdout);
  ownErrors = errorsOf(run(ownCalls).stdout);
  withNamespaces = errorsOf(run(calls, [], ['--namespaces']).stdout);
}, 300_000);

afterAll(() => rmSync(directory, { recursive: true, force: true }));

function run(program: string, args: readonly string[] = [], options: readonly string[] = []) {
  const system = ['/lib', '/lib64', '/usr', '/etc/ld.so.cache'];
  const home = join(directory, 'home');
  return spawnSync(enter, [...options, '9,10', home, ...system, '--', program, ...args], {
    encoding: 'utf8',
    cwd: home,
  });
}

function errorsOf(text: string): ReadonlyMap<string, number> {
  return new Map([...text.matchAll(/^(.+) (\d+)$/gm)].map(([, name, error]) => [name!, Number(error)]));
}

describe("the browser's sandbox", () => {
  it.each([
    ...list`
      socket of the machine, datagrams of the machine, socketpair, io_uring_setup, io_uring_enter, execveat, ptrace,
      process_vm_readv, process_vm_writev, pidfd_getfd, pidfd_send_signal, bpf, perf_event_open, userfaultfd, keyctl,
      add_key, request_key, mount, setns, open_by_handle_at, inotify_init1, inotify_add_watch, fanotify_init,
      fanotify_mark, name_to_handle_at, shmget, semget, msgget, mq_open, syncfs, datagrams, listen, io_uring_register,
      a signal to everybody
    `,
    ...(process.arch === 'x64' ? ['inotify_init'] : []),
    ...DENIED,
  ])('rejects %s', (name) => {
    expect(errors.get(name)).toBe(EACCES);
  });

  it.each([
    ...list`
      fchmod, fchmodat, fchown, fchownat, utimensat, setxattr, lsetxattr, fsetxattr, removexattr, setpriority,
      ioprio_set, sched_setparam, sched_setscheduler, sched_setattr, sched_setaffinity, clone into a namespace,
      a namespace
    `,
    ...FORBIDDEN,
  ])('forbids %s', (name) => {
    expect(errors.get(name)).toBe(EPERM);
  });

  it('has no clone3, so that processes are created by a call whose flags a filter can read', () => {
    expect(errors.get('clone3')).toBe(ENOSYS);
  });

  it.each(['socket', 'clone', 'a signal to itself', 'its own limits'])('allows %s', (name) => {
    expect(errors.get(name)).toBe(0);
  });

  it.each([
    ...list`
      TCP, socketpair of the machine, own limits, a file, a folder
    `,
    'a process that stays readable',
  ])('allows %s', (name) => {
    expect(ownErrors.get(name)).toBe(0);
  });

  it.each(['sendto', 'sendmsg', 'TCP_NODELAY', 'SO_KEEPALIVE'])(
    'leaves %s to the kernel, which rejects the descriptor',
    (name) => {
      expect(ownErrors.get(name)).toBe(EBADF);
    },
  );

  it.each([
    ...list`
      MPTCP, MPTCP over IPv6, SCTP, SMC, TCP_FASTOPEN_CONNECT, TCP_ULP, SO_BINDTODEVICE, SO_ATTACH_FILTER, IP_TTL,
      IPV6_ADDRFORM, socketpair of another family, limits of another process, a process group, a session,
      a symbolic link, a pipe with a name, a file outside, moving a file out, FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS,
      FS_IOC_FSSETXATTR, TIOCSTI, TIOCLINUX
    `,
  ])('rejects %s', (name) => {
    expect(ownErrors.get(name)).toBe(EACCES);
  });

  it.each(['sendto that connects', 'sendmsg that connects', 'sendmmsg that connects'])(
    'forbids %s, because Landlock does not check its port',
    (name) => {
      expect(ownErrors.get(name)).toBe(EPERM);
    },
  );

  it('leaves Chromium the namespaces of its own sandbox, and nothing else', () => {
    const more = [...withNamespaces].filter(([name, error]) => errors.get(name) !== error);

    expect(new Map(more)).toEqual(
      new Map([
        ['clone into a namespace', 0],
        ['a namespace', 0],
      ]),
    );
  });

  it('drops all root capabilities except reading', () => {
    const { stdout } = run('/bin/cat', ['/proc/self/status']);

    const status = new Map([...stdout.matchAll(/^(\w+):\s*(\S+)/gm)].map(([, name, value]) => [name, value]));
    expect(status.get('CapEff')).toMatch(/^0{15}[04]$/);
    expect([status.get('NoNewPrivs'), status.get('Seccomp')]).toEqual(['1', '2']);
  });

  it('needs no newer C library than Node', () => {
    const asked = [...readFileSync(enter, 'latin1').matchAll(/GLIBC_2\.(\d+)/g)];

    expect(asked.length).toBeGreaterThan(0);
    for (const [, minor] of asked) expect(Number(minor)).toBeLessThanOrEqual(28);
  });
});
