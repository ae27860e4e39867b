import { mkdirSync, mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { afterAll, expect, it } from 'vitest';
import { launchBrowser } from '../../../../../functions/engines/chromium/browser/browser.ts';
import { browserTree } from '../../../../../functions/engines/chromium/browser/processes.ts';
import { openSession } from '../../../../../functions/engines/chromium/page/open-session.ts';
import { reserveRelays } from '../../../../../functions/engines/chromium/proxy/relay.ts';
import { fontEnvironment } from '../../../../../functions/engines/worker/sandbox.ts';

const temporary = mkdtempSync(join(tmpdir(), 'open-session-'));
const home = join(temporary, 'browser');
mkdirSync(home);
const layers = resolve('dist/layers');
const ports = await reserveRelays();
const options = {
  layers,
  home,
  environment: fontEnvironment(layers),
  sandbox: 'best-effort',
  ports,
} as const;
const { browser } = await launchBrowser(options, ({ connection }) => openSession(connection));

afterAll(async () => {
  browser.kill();
  await browser.ended.catch(() => {});
  await rm(temporary, { recursive: true, maxRetries: 9 });
});

it('rejects if the process of the page ends before the page is open', async () => {
  const before = browserTree(browser.pid);

  const opening = openSession(browser.connection);
  let started: readonly number[] = [];
  opening.catch(() => {});
  while (started.length === 0) {
    await setImmediate();
    started = browserTree(browser.pid).filter((pid) => !before.includes(pid));
  }
  for (const pid of started) process.kill(pid, 'SIGKILL');

  await expect(opening).rejects.toThrow('The page crashed.');
});
