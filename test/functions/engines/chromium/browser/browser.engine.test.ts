import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  launchBrowser,
  type RunningBrowser,
} from '../../../../../functions/engines/chromium/browser/browser.ts';
import {
  OwnSandboxError,
  readNamespaceSettings,
} from '../../../../../functions/engines/chromium/browser/processes.ts';
import { EngineState } from '../../../../../functions/engines/worker/observer.ts';
import { fontEnvironment } from '../../../../../functions/engines/worker/sandbox.ts';
import { createEngine } from '../../../../../functions/html2image/convert.ts';
import type { SandboxMode } from '../../../../../functions/shared/settings/service.ts';
import { CODE } from '../../../../../infra/local/server/temporary.ts';
import { compile } from '../../../../../layers/build/compile.ts';
import { cacheOf } from '../../../../../layers/build/product.ts';
import { engineNetwork } from '../../../../helpers/engine-network.ts';
import { EXTENT } from '../../../extent.ts';

const LAYERS = resolve('dist/layers');
const isRoot = process.getuid?.() === 0;
const homes: string[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const home of homes.splice(0))
    await rm(home, { recursive: true, force: true, maxRetries: 9, retryDelay: 200 });
});

/** Opens a page, and returns what it shows. */
async function openPage({ connection }: RunningBrowser): Promise<unknown> {
  const { targetId } = await connection.send('Target.createTarget', { url: 'about:blank' });
  const { targetInfo } = await connection.send('Target.getTargetInfo', { targetId });
  const page = await connection.createSession(targetInfo);
  const { result } = await page.send('Runtime.evaluate', { expression: '6 * 7' });
  return result.value;
}

async function launch(sandbox: SandboxMode, variables?: (home: string) => Promise<Record<string, string>>) {
  const home = await mkdtemp(join(tmpdir(), 'sandbox-'));
  homes.push(home);
  const environment = { ...fontEnvironment(LAYERS), ...(await variables?.(home)) };
  const options = { layers: LAYERS, home, ports: [], environment, sandbox };
  const { browser, page } = await launchBrowser(options, openPage);
  browser.ended.catch(() => {});
  process.kill(browser.pid, 'SIGKILL');
  expect(page).toBe(42);
  return browser.unsandboxed;
}

/** Keeps a program from starting renderers, and the process that forks them. */
const NO_RENDERERS = `#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <string.h>
static int is_refused(char *const arguments[]) {
  for (; *arguments; arguments++)
    if (!strcmp(*arguments, "--type=renderer") || !strcmp(*arguments, "--type=zygote")) return 1;
  return 0;
}
int execvp(const char *file, char *const arguments[]) {
  errno = EPERM;
  if (is_refused(arguments)) return -1;
  return ((int (*)(const char *, char *const[]))dlsym(RTLD_NEXT, "execvp"))(file, arguments);
}
int execve(const char *file, char *const arguments[], char *const environment[]) {
  errno = EPERM;
  if (is_refused(arguments)) return -1;
  return ((int (*)(const char *, char *const[], char *const[]))dlsym(RTLD_NEXT, "execve"))(file, arguments, environment);
}
`;

/** Crashes the first program that starts with the environment variable `ONCE`, which names a file. */
const CRASHES_ONCE = `#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
__attribute__((constructor)) static void crash(void) {
  const char *file = getenv("ONCE");
  if (file && open(file, O_CREAT | O_EXCL, 0600) >= 0) raise(SIGSEGV);
}
`;

/** Keeps each renderer busy for at least five seconds before it starts. */
const SLOW_RENDERERS = `#include <string.h>
#include <time.h>
__attribute__((constructor)) static void work(int count, char **arguments) {
  for (int index = 0; index < count; index++)
    if (!strcmp(arguments[index], "--type=renderer"))
      for (time_t end = time(NULL) + 6; time(NULL) < end;);
}
`;

/** Compiles a library for `LD_PRELOAD`, and returns its path. */
async function compileLibrary(name: string, source: string, home: string): Promise<string> {
  const library = join(home, `${name}.so`);
  const file = join(home, `${name}.c`);
  await writeFile(file, source);
  await compile({
    sources: [file],
    sharedName: `${name}.so`,
    output: library,
    cache: cacheOf(resolve(`dist/test/${name}`)),
    progress() {},
  });
  return library;
}

describe('a browser whose own sandbox does not start', () => {
  it('does not start where the sandbox is required', async () => {
    // Chromium refuses a sandbox to root, as a machine without user namespaces does to others.
    vi.spyOn(process, 'getuid').mockReturnValue(1000);

    const started = launch('required');

    if (isRoot) await expect(started).rejects.toThrow(OwnSandboxError);
    else expect(await started).toBeUndefined();
  });

  it('says which setting of the kernel is the reason, and what to do', async () => {
    const root = await mkdtemp(join(tmpdir(), 'sandbox-'));
    homes.push(root);
    await mkdir(join(root, 'user'));
    await writeFile(join(root, 'user/max_user_namespaces'), '0\n');

    const error = new OwnSandboxError(new Error('it exited'), readNamespaceSettings(root));

    expect(error.message).toBe(
      'Chromium did not start with its own sandbox (Error: it exited). This machine does not allow user namespaces: user.max_user_namespaces is 0. Set SANDBOX=best-effort to run it without one.',
    );
    expect(new OwnSandboxError('no reply', readNamespaceSettings(join(root, 'none'))).message).toBe(
      'Chromium did not start with its own sandbox (no reply). Set SANDBOX=best-effort to run it without one.',
    );
  });

  it('starts without where that is allowed, and says why', async () => {
    vi.spyOn(process, 'getuid').mockReturnValue(1000);

    const reason = await launch('best-effort');

    expect(reason).toEqual(isRoot ? expect.any(String) : undefined);
  });
});

it('a browser that crashes while it starts is not started without its sandbox', async () => {
  vi.spyOn(process, 'getuid').mockReturnValue(1000);

  const started = launch('best-effort', async (home) => ({
    LD_PRELOAD: await compileLibrary('crashes-once', CRASHES_ONCE, home),
    ONCE: join(home, 'crashed'),
  }));

  await expect(started).rejects.toThrow('Chromium ended: SIGSEGV');
});

it('a browser whose renderers do not start runs its pages itself', async () => {
  vi.spyOn(process, 'getuid').mockReturnValue(1000);

  const reason = await launch('best-effort', async (home) => ({
    LD_PRELOAD: await compileLibrary('no-renderers', NO_RENDERERS, home),
  }));

  expect(reason).toMatch(/No renderer started either, so pages run in the process of the browser\.$/);
});

// Takes seconds of CPU time.
const slowTest = EXTENT.isWhole ? it : undefined;
slowTest?.('a browser whose renderers start slowly does not run its pages itself', async () => {
  vi.spyOn(process, 'getuid').mockReturnValue(1000);

  const reason = await launch('best-effort', async (home) => ({
    LD_PRELOAD: await compileLibrary('slow-renderers', SLOW_RENDERERS, home),
  }));

  if (isRoot) expect(reason).toMatch(/^Error: Chromium ended: [^.]*$/);
  else expect(reason).toBeUndefined();
});

it('a browser without its own sandbox is reported once, and every start is counted', async () => {
  const temporary = await mkdtemp(join(tmpdir(), 'sandbox-'));
  const reasons: string[] = [];
  const state = new EngineState((reason) => reasons.push(reason));
  const counted = vi.spyOn(state, 'unsandboxed');
  const engine = createEngine({
    layers: LAYERS,
    code: CODE,
    temporary,
    size: 1,
    ...engineNetwork(),
    observer: state,
    sandbox: 'best-effort',
  });
  await engine.warm!();
  await expect.poll(() => state.status).toBe('up');
  await engine.close();
  await rm(temporary, { recursive: true, force: true });

  state.unsandboxed('again');
  expect(counted.mock.calls.length).toBe(isRoot ? 2 : 1);
  expect(reasons).toEqual([isRoot ? 'Chromium cannot use its own sandbox when it runs as root.' : 'again']);
});
