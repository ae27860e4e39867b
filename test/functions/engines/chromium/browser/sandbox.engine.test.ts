import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { launchBrowser } from '../../../../../functions/engines/chromium/browser/browser.ts';
import {
  OwnSandboxError,
  readNamespaceSettings,
} from '../../../../../functions/engines/chromium/browser/own-sandbox.ts';
import { EngineState } from '../../../../../functions/engines/worker/observer.ts';
import { fontEnvironment } from '../../../../../functions/engines/worker/sandbox.ts';
import { createEngine } from '../../../../../functions/html2image/convert.ts';
import type { SandboxMode } from '../../../../../functions/shared/settings/sandbox.ts';
import { CODE } from '../../../../../infra/local/server/code.ts';
import { networkOf } from '../../../../network.ts';

const LAYERS = resolve('dist/layers');
const isRoot = process.getuid?.() === 0;
const homes: string[] = [];

afterEach(async () => {
  vi.restoreAllMocks();
  for (const home of homes.splice(0))
    await rm(home, { recursive: true, force: true, maxRetries: 9, retryDelay: 200 });
});

async function launch(sandbox: SandboxMode) {
  const home = await mkdtemp(join(tmpdir(), 'sandbox-'));
  homes.push(home);
  const options = { layers: LAYERS, home, ports: [], environment: fontEnvironment(LAYERS, home), sandbox };
  const browser = await launchBrowser(options as Parameters<typeof launchBrowser>[0]);
  browser.ended.catch(() => {});
  process.kill(browser.pid, 'SIGKILL');
  return browser.unsandboxed;
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

it('a browser without its own sandbox is reported once, and every start is counted', async () => {
  const temporary = await mkdtemp(join(tmpdir(), 'sandbox-'));
  const reasons: string[] = [];
  const state = new EngineState((reason) => reasons.push(reason));
  const counted = vi.spyOn(state, 'unsandboxed');
  const engine = createEngine({
    ...{ layers: LAYERS, code: CODE, temporary, size: 1, ...networkOf() },
    ...{ observer: state, sandbox: 'best-effort' },
  });
  await engine.warm!();
  await vi.waitFor(() => expect(state.status).toBe('up'));
  await engine.close();
  await rm(temporary, { recursive: true, force: true });

  state.unsandboxed('again');
  expect(counted.mock.calls.length).toBe(isRoot ? 2 : 1);
  expect(reasons).toEqual([isRoot ? 'Chromium does not sandbox a browser of root.' : 'again']);
});
