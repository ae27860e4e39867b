import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { servePages, startBrowsers } from '../page-server.ts';

const scripted = (script: string) => `<!doctype html><p id=p>begun</p><script>${script}</script>`;

let pages: Awaited<ReturnType<typeof servePages>>;
let browsers: Awaited<ReturnType<typeof startBrowsers>>;

beforeAll(async () => {
  const never = () => {};
  pages = await servePages({
    '/': '<!doctype html><p>Hello</p>',
    '/silent': never,
    '/waits': '<!doctype html><link rel=stylesheet href=/silent><p>Hello</p>',
    '/condition': '<!doctype html><p>Hello</p>',
    '/timers': scripted('setInterval(() => { p.textContent += "x" }, 100)'),
    '/loops': scripted('for (;;);'),
    '/floods': scripted('(function turn() { Promise.resolve().then(turn) })()'),
    '/leaves': scripted('onbeforeunload = () => "stay"; onunload = () => { for (;;); }'),
  });
  browsers = await startBrowsers('html2pdf', { exceptions: [`127.0.0.1:${pages.port}`] });
});

afterAll(async () => {
  await browsers.close();
  await pages.close();
});

it.for([
  ['/silent', {}],
  ['/waits', {}],
  ['/condition', { '--window-status': 'never' }],
  ['/timers', { '--javascript-delay': '20000' }],
] as const)('a browser whose page is cancelled stays: %s %o', async ([path, options]) => {
  const usual = readFileSync((await browsers.convert(pages.origin)).path).length;
  await browsers.warm();
  const before = browsers.workers();
  // A worker that is slow to cancel would be killed after a while.
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  const cancelled = browsers.convert(pages.origin + path, options, { time: 700 });
  await expect(cancelled).rejects.toMatchObject({ code: 'TIMED_OUT' });
  const { path: file } = await browsers.convert(pages.origin);

  expect(readFileSync(file).length).toBe(usual);
  vi.useRealTimers();
  expect(browsers.workers()).toEqual(before);
});

it.for(['/loops', '/floods', '/leaves'])('the next page is right after one that hangs: %s', async (path) => {
  const usual = readFileSync((await browsers.convert(pages.origin)).path).length;
  await browsers.convert(pages.origin + path, {}, { time: 1000 }).catch(() => {});
  const { path: file } = await browsers.convert(pages.origin);

  expect(readFileSync(file).length).toBe(usual);
});
