import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { descendants } from '../../../../helpers/descendants.ts';
import { servePages, startBrowsers } from '../page-server.ts';

const WORKER = 'html2image/worker.ts';

let pages: Awaited<ReturnType<typeof servePages>>;
let browsers: Awaited<ReturnType<typeof startBrowsers>>;

beforeAll(async () => {
  pages = await servePages({ '/': '<!doctype html><p>Hello</p>' });
  browsers = await startBrowsers('html2image', { exceptions: [`127.0.0.1:${pages.port}`] });
});

afterAll(async () => {
  await browsers.close();
  await pages.close();
});

/** Returns descendants of this process whose command line contains a text. */
function ours(text: string): number[] {
  return descendants(process.pid).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'latin1').includes(text);
    } catch {
      return false;
    }
  });
}

it.for([
  ['network', 'network.mojom.NetworkService'],
  ['page', '--type=renderer'],
  ['forking', '--type=zygote'],
  ['main', '--remote-debugging-pipe'],
] as const)('a browser whose %s process was killed is replaced before the next page', async ([, text]) => {
  for (const pause of [0, 10, 200]) {
    await browsers.convert(pages.origin);
    // The browser that has been used. The other one is the spare.
    const [victim] = ours(text);
    kill(victim!);
    await setTimeout(pause);

    const { path } = await browsers.convert(pages.origin);

    expect(readFileSync(path).toString('hex', 0, 3)).toBe('ffd8ff');
  }
});

it('a browser has a directory of its own, below the one that contains the files of requests', async () => {
  await browsers.convert(pages.origin);

  const [used] = ours('--remote-debugging-pipe').map((pid) => readFileSync(`/proc/${pid}/cmdline`, 'latin1'));
  const home = /--user-data-dir=(.*?)\/browser\/profile[\0 ]/.exec(used!)?.[1];
  expect(home).toMatch(/\/engine-\w{6}$/);
  // The folder of requests is empty between them.
  const [browser, requests, ...others] = readdirSync(home!).sort();
  expect([browser, others]).toEqual(['browser', []]);
  expect(requests).toMatch(/^request-\w{6}$/);
  expect(readdirSync(join(home!, requests!))).toEqual([]);
});

it.for([
  ['network', 'network.mojom.NetworkService', 'network.mojom.NetworkService'],
  // Without its page, a browser exits. A request that arrives before would count as the cause.
  ['page', '--type=renderer', WORKER],
  // In Chromium's own sandbox, which root does not use, pages end with it.
  ['forking', '--type=zygote', process.getuid?.() === 0 ? '--type=zygote' : WORKER],
] as const)(
  'a page is converted after the %s processes of all browsers, including spare ones, were killed',
  async ([, text, ending]) => {
    await browsers.convert(pages.origin);
    // A browser that is killed while it starts counts as an engine that does not start.
    await browsers.warm();
    const before = ours(ending);
    for (const victim of ours(text)) kill(victim);
    // A page that was being opened is only missed when its timeout has passed.
    const remaining = () => before.filter((process) => isThere(process, ending));
    await expect.poll(remaining).toEqual([]);

    const { path } = await browsers.convert(pages.origin);

    expect(readFileSync(path).toString('hex', 0, 3)).toBe('ffd8ff');
  },
);

/** Kills a process that may have ended together with another one. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}

/** Whether a process still runs. A worker is used until its end was reported to this process, its parent. */
function isThere(pid: number, kind: string): boolean {
  return kind === WORKER ? existsSync(`/proc/${pid}`) : ours(kind).includes(pid);
}
