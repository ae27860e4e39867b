// Opens pages in one browser that keeps running, as a script with puppeteer does. Per line: a JSON array of "pdf" or "png",
// what to wait for, and the URL. Arguments: the browser, a directory.
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { launch, type PuppeteerLifeCycleEvent } from 'puppeteer-core';

const [executablePath, directory] = process.argv.slice(2) as [string, string];
// As root, Chromium refuses to start with its sandbox.
const args = ['--no-sandbox', '--disable-gpu', '--hide-scrollbars'];
const userDataDir = join(directory, 'browser');
const browser = await launch({ executablePath, args, userDataDir, headless: 'shell' });
console.log('ready');
for await (const line of createInterface(process.stdin)) {
  const [format, waitUntil, url] = JSON.parse(line) as ['pdf' | 'png', PuppeteerLifeCycleEvent, string];
  const started = performance.now();
  try {
    const page = await browser.newPage();
    await page.setViewport({ width: 1024, height: 768 });
    await page.goto(url, { waitUntil });
    if (format === 'pdf') await page.pdf({ path: join(directory, 'warm.pdf'), format: 'A4' });
    else await page.screenshot({ path: join(directory, 'warm.png'), fullPage: true });
    await page.close();
    console.log(performance.now() - started);
  } catch (thrown) {
    console.log('failed', String(thrown).replaceAll('\n', ' '));
  }
}
await browser.close();
