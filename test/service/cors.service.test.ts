import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { type Browser, launch } from 'puppeteer-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openService, ownService, type ServiceUnderTest } from '../lab/service.ts';

const pages = [0, 1].map(() =>
  createServer((_, response) => response.setHeader('Content-Type', 'text/html').end('<title>Page</title>')),
);
const originOf = (index: number) => `http://127.0.0.1:${(pages[index]!.address() as AddressInfo).port}`;

let service: ServiceUnderTest;
let browser: Browser;
beforeAll(async () => {
  await Promise.all(pages.map((page) => once(page.listen(0, '127.0.0.1'), 'listening')));
  service = await openService({ sources: [], settings: { CORS_ORIGINS: originOf(0) } });
  browser = await launch({
    executablePath: join(import.meta.dirname, '../../dist/layers/chromium/chromium'),
    args: ['--no-sandbox'],
  });
});
afterAll(async () => {
  await browser?.close();
  await service?.close();
  for (const page of pages) page.close();
});

/** Sends a page from a script of a page, with the key in a header, and reads the response. */
async function convertFrom(index: number): Promise<string> {
  const page = await browser.newPage();
  await page.goto(originOf(index));
  return page.evaluate(
    async (base, apiKey) => {
      try {
        const body = new Blob(['<h1>Title</h1>'], { type: 'text/html' });
        const headers = { Authorization: `Bearer ${apiKey}`, Accept: 'application/json' };
        const url = `${base}/api/?app=html2pdf&outfile=a.pdf`;
        const response = await fetch(url, { method: 'POST', headers, body });
        const { outputs } = (await response.json()) as { outputs: { url: string }[] };
        const result = await (await fetch(outputs[0]!.url)).text();
        return `${result.slice(0, 5)} ${response.headers.has('x-request-id')}`;
      } catch (thrown) {
        return String(thrown);
      }
    },
    service.base,
    service.apiKey,
  );
}

describe.runIf(ownService)('a script of another origin (needs a service of one machine)', () => {
  it('calls the service if its origin is allowed', async () => {
    expect(await convertFrom(0)).toBe('%PDF- true');
  });

  it('is stopped by the browser if its origin is not allowed', async () => {
    expect(await convertFrom(1)).toBe('TypeError: Failed to fetch');
  });
});
