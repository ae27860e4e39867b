import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { servePages, startBrowsers } from './page-server.ts';

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

/** Processes of our browsers whose command line holds a text. */
function ours(text: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter(Number.isInteger)
    .filter((pid) => {
      try {
        const [command, variables] = ['cmdline', 'environ'].map((file) =>
          readFileSync(`/proc/${pid}/${file}`, 'latin1'),
        );
        return command!.includes(text) && variables!.includes(`HOME=${browsers.temporary}`);
      } catch {
        return false;
      }
    });
}

it.for([
  ['network', 'network.mojom.NetworkService'],
  ['page', '--type=renderer'],
  ['main', '--remote-debugging-pipe'],
] as const)('a browser whose %s process was killed is replaced before the next page', async ([, text]) => {
  for (const pause of [0, 10, 200]) {
    await browsers.convert(pages.origin);
    const victims = ours(text);
    for (const pid of victims) process.kill(pid, 'SIGKILL');
    await setTimeout(pause);

    const { path } = await browsers.convert(pages.origin);

    expect(victims.length).toBeGreaterThan(0);
    expect(readFileSync(path).subarray(1, 4).toString()).toBe('PNG');
  }
});
