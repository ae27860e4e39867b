import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { readProcess } from '../../../../../functions/engines/worker/linux/proc.ts';
import { descendants } from '../../../../helpers/processes.ts';
import { servePages, startBrowsers } from '../page-server.ts';

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

/** Returns the processes of the browsers whose command line contains a text. */
function find(text: string): number[] {
  return descendants(...browsers.workers()).filter((pid) => readProcess(pid, 'cmdline').includes(text));
}

async function convert(): Promise<void> {
  const { path } = await browsers.convert(pages.origin);
  expect(readFileSync(path).toString('hex', 0, 3)).toBe('ffd8ff');
}

const PROCESSES = [
  ['network', 'network.mojom.NetworkService'],
  ['page', '--type=renderer'],
  ['forking', '--type=zygote'],
  ['main', '--remote-debugging-pipe'],
] as const;

it.for(PROCESSES)(
  'a browser whose %s process was killed is replaced before the next page',
  async ([, text]) => {
    await convert();
    for (const pid of find(text)) kill(pid);

    await convert();
  },
);

it.for([
  ['page', '--type=renderer'],
  ['main', '--remote-debugging-pipe'],
] as const)('a browser whose %s process is killed while it is idle exits', async ([, text]) => {
  await convert();
  const before = browsers.workers();

  // Pages that are opened meanwhile, too: a browser does not need the last page any more.
  await expect
    .poll(() => {
      for (const pid of find(text)) kill(pid);
      return before.filter((worker) => existsSync(`/proc/${worker}`));
    })
    .toEqual([]);
});

it('a browser has a directory of its own, below the one that contains the files of requests', async () => {
  await convert();

  const [browser] = find('--remote-debugging-pipe');
  const home = /--user-data-dir=(.*?)\/browser\/profile[\0 ]/.exec(readProcess(browser!, 'cmdline'))?.[1];
  expect(home).toMatch(/\/engine-\w{6}$/);
  // The folder of requests is empty between them.
  const [own, requests, ...others] = readdirSync(home!).sort();
  expect([own, others]).toEqual(['browser', []]);
  expect(requests).toMatch(/^request-\w{6}$/);
  expect(readdirSync(join(home!, requests!))).toEqual([]);
});

/** Kills a process that may have ended together with another one. */
function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch (thrown) {
    if ((thrown as NodeJS.ErrnoException).code !== 'ESRCH') throw thrown;
  }
}
