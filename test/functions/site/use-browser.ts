import { join } from 'node:path';
import { type Browser, launch, type Page } from 'puppeteer-core';
import { afterAll, afterEach, beforeAll, beforeEach, expect } from 'vitest';

/** Starts the browser of the layers. */
export const launchBrowser = () =>
  launch({
    executablePath: join(import.meta.dirname, '../../../dist/layers/chromium/chromium'),
    args: ['--no-sandbox'],
    timeout: 120_000,
  });

/**
 * Opens a page for each test. A test fails if its page violates the policy, throws, opens a dialog, or sends a request to another origin.
 */
export function useBrowser(origins: () => readonly string[]): () => Page {
  let browser: Browser;
  let page: Page;
  let faults: string[];
  beforeAll(async () => {
    browser = await launchBrowser();
  });
  afterAll(() => browser?.close());
  beforeEach(async () => {
    faults = [];
    const known = origins();
    page = await browser.newPage();
    page.setDefaultTimeout(120_000);
    page.on('pageerror', (error) => faults.push(String(error)));
    page.on('console', (message) => {
      if (/Content Security Policy/i.test(message.text())) faults.push(message.text());
    });
    page.on('dialog', async (dialog) => {
      faults.push(`dialog: ${dialog.message()}`);
      await dialog.dismiss();
    });
    page.on('request', (request) => {
      const { protocol, origin } = new URL(request.url());
      if (/^http/.test(protocol) && !known.includes(origin)) faults.push(request.url());
    });
  });
  afterEach(async () => {
    await page.close();
    expect(faults).toEqual([]);
  });
  return () => page;
}

/** Clicks, and waits for the next page. */
export async function press(page: Page, selector: string): Promise<void> {
  await Promise.all([page.waitForNavigation(), page.click(selector)]);
}

/** Drops a file on a page. */
export async function drop(page: Page, name: string, bytes: Buffer): Promise<void> {
  await page.evaluate(
    (fileName, content) => {
      const dataTransfer = new DataTransfer();
      dataTransfer.items.add(new File([new Uint8Array(content)], fileName));
      document.body.dispatchEvent(new DragEvent('drop', { dataTransfer, bubbles: true, cancelable: true }));
    },
    name,
    [...bytes],
  );
}

/** Waits until a conversion has ended, and returns what the page shows. */
export async function ended(page: Page): Promise<{ status: string; images: number; text: string }> {
  await page.waitForSelector('#try:not([aria-busy])');
  return page.evaluate(async () => {
    const images = [...document.querySelectorAll<HTMLImageElement>('#result img')];
    await Promise.all(images.map((image) => image.decode()));
    const texts = ['#status', '#failure'].map((each) => document.querySelector(each)!.textContent!);
    return {
      status: texts.join(''),
      images: images.filter(({ naturalWidth }) => naturalWidth > 0).length,
      text: document.querySelector('#result')!.textContent!,
    };
  });
}
