import { join } from 'node:path';
import { launch, type Page } from 'puppeteer-core';
import { afterAll, expect, it } from 'vitest';
import { writeSite } from '../../../../functions/site/build.ts';
import { freePort } from '../../../helpers/free-port.ts';
import { useService } from '../../../service/server/use-service.ts';
import { CLIENT, startProvider } from './provider.ts';

await writeSite();
// The redirect URI contains the port of the service.
const port = await freePort();
const base = `http://localhost:${port}`;
const provider = await startProvider(() => `${base}/account/openid/callback`);
afterAll(() => provider.close());
useService(() => ({}), {
  PORT: String(port),
  PUBLIC_URL: base,
  SIGN_UP: 'open',
  OPENID_ISSUER: provider.issuer,
  OPENID_CLIENT_ID: CLIENT.clientId,
  OPENID_CLIENT_SECRET: CLIENT.clientSecret,
  OPENID_NAME: 'Example',
});

it('signs up with a provider without JavaScript, converts with the first key, and signs out', async () => {
  await using browser = await launch({
    executablePath: join(import.meta.dirname, '../../../../dist/layers/chromium/chromium'),
    args: ['--no-sandbox'],
    timeout: 120_000,
  });
  const page = await browser.newPage();
  page.setDefaultTimeout(120_000);
  await page.setJavaScriptEnabled(false);
  await page.goto(`${base}/account`);
  await press(page, 'a.button');
  const key = await page.$eval('#new-key', ({ textContent }) => textContent!);
  await page.setJavaScriptEnabled(true);
  await page.goto(`${base}/#app=imageproc`);
  await page.type('#apikey', key);
  await page.click('[data-sample]:not([hidden])');
  await page.click('#convert');
  await page.waitForSelector('#try:not([aria-busy])');
  const status = await page.$eval('#status', ({ textContent }) => textContent);
  await page.setJavaScriptEnabled(false);
  await page.goto(`${base}/account`);
  const account = await page.$eval('main', ({ textContent }) => textContent!);
  await press(page, '[action="/account/sign-out"] button');
  const button = await page.$eval('a.button', ({ textContent }) => textContent);

  expect(status).toMatch(/^Done/);
  expect(account).toMatch(/alice@example\.com.*Conversions: 1\. Failed: 0\./s);
  expect(button).toBe('Sign in with Example');
});

async function press(page: Page, selector: string): Promise<void> {
  await Promise.all([page.waitForNavigation(), page.click(selector)]);
}
