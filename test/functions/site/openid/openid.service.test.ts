import { afterAll, expect, it } from 'vitest';
import { writeSite } from '../../../../functions/site/build.ts';
import { freePort } from '../../../helpers/free-port.ts';
import { useService } from '../../../service/use-service.ts';
import { ended, press, useBrowser } from '../use-browser.ts';
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

const usedPage = useBrowser(() => [base, new URL(provider.issuer).origin]);

it('signs up with a provider without JavaScript, converts with the first key, and signs out', async () => {
  const page = usedPage();
  await page.setJavaScriptEnabled(false);
  await page.goto(`${base}/account`);
  await press(page, 'a.button');
  const key = await page.$eval('#new-key', ({ textContent }) => textContent!);
  await page.setJavaScriptEnabled(true);
  await page.goto(`${base}/try#app=imageproc`);
  await page.type('#apikey', key);
  // Members need no key. The button moves when the field is hidden.
  await page.waitForSelector('[data-field=apikey]', { hidden: true });
  await page.click('[data-sample]:not([hidden])');
  await page.click('#convert');
  const { status } = await ended(page);
  await page.setJavaScriptEnabled(false);
  await page.goto(`${base}/account`);
  const account = await page.$eval('main', ({ textContent }) => textContent!);
  await press(page, '[action="/account/sign-out"] button');
  const button = await page.$eval('a.button', ({ textContent }) => textContent);

  expect(status).toMatch(/^Done/);
  expect(account).toMatch(/alice@example\.com.*Conversions: 1\. Failed: 0\./s);
  expect(button).toBe('Sign in with Example');
});
