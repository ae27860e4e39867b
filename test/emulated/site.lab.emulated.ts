import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import sharp from 'sharp';
import { afterAll, afterEach, beforeAll, expect, it, vi } from 'vitest';
import { createDynamoTable } from '../../functions/platform/aws/table.ts';
import { createStores } from '../../functions/platform/stores.ts';
import { Members } from '../../functions/site/accounts/members.ts';
import { parseSettings } from '../../infra/aws/settings.ts';
import { quarters } from '../fixtures/image.ts';
import { startMailServer } from '../functions/site/mail-server.ts';
import { CLIENT, startProvider } from '../functions/site/openid/provider.ts';
import { drop, ended, press, useBrowser } from '../functions/site/use-browser.ts';
import { useEmulator } from './use-emulator.ts';

let site = '';
// Cognito's issuer has the ID of the pool as its path, and the stack's client has no secret.
const cognito = await startProvider(() => `${site}/account/openid/callback`, {
  path: '/us-east-1_Example',
  isPublic: true,
});
const mailServer = await startMailServer();
const used = useEmulator({
  settings: {
    ...parseSettings({}),
    site: {
      signUp: 'open',
      mail: { from: 'docmill@example.com', parameter: '/docmill/smtp' },
      openId: { issuer: cognito.issuer, clientId: CLIENT.clientId, name: 'Cognito' },
    },
  },
  parameters: { '/docmill/smtp': mailServer.url },
});

const usedPage = useBrowser(() =>
  [site, used().emulator.storageUrl, cognito.issuer].map((url) => new URL(url).origin),
);
beforeAll(() => {
  site = `${used().emulator.base}/api/site`;
});
afterAll(async () => {
  cognito.close();
  await mailServer.close();
});
afterEach(() => {
  expect(used().emulator.denied).toEqual([]);
});

/** Converts what the form contains, and returns what the page shows. */
async function convert(): Promise<{ status: string; images: number }> {
  await usedPage().type('#apikey', used().emulator.apiKey);
  await usedPage().click('#convert');
  return ended(usedPage());
}

it.each(['imageproc', 'html2image'])('shows the result of a sample: %s', async (tool) => {
  const page = usedPage();
  await page.goto(`${site}/try#app=${tool}`);
  await page.click('[data-sample]:not([hidden])');

  const { status, images } = await convert();

  expect({ status, images }).toEqual({ status: expect.stringMatching(/^Done/), images: 1 });
});

it('converts a file that is too large for the gateway, which the page uploads to the bucket', async () => {
  const page = usedPage();
  const folder = await mkdtemp(join(tmpdir(), 'large-'));
  const file = join(folder, 'noise.png');
  const noise = { width: 1600, height: 1200, channels: 3 } as const;
  await sharp(randomBytes(1600 * 1200 * 3), { raw: noise })
    .png()
    .toFile(file);
  await page.goto(`${site}/try#app=imageproc`);
  await (await page.$('input#choose'))!.uploadFile(file);

  const { status, images } = await convert();

  await rm(folder, { recursive: true });
  expect({ status, images }).toEqual({ status: expect.stringMatching(/^Done/), images: 1 });
});

it('converts a file that is dropped', async () => {
  const page = usedPage();
  await page.goto(`${site}/try#app=imageproc`);
  await drop(page, 'a.png', await quarters(40, 30).png().toBuffer());

  const { status, images } = await convert();

  expect({ status, images }).toEqual({ status: expect.stringMatching(/^Done/), images: 1 });
});

it('signs in with an emailed link, which was sent before the function is frozen', async () => {
  const page = usedPage();
  await page.setJavaScriptEnabled(false);
  await page.goto(`${site}/account`);
  await page.type('#email', 'carol@example.com');
  await press(page, 'form.narrow button');
  const mail = (await vi.waitUntil(() => mailServer.mails.at(-1), 60_000))
    .replace(/=\r?\n/g, '')
    .replaceAll('=3D', '=');

  await page.goto(/https?:\S+token=[\w-]{22}/.exec(mail)![0]);
  await press(page, 'form button');

  expect(await page.$eval('main', ({ textContent }) => textContent)).toContain('carol@example.com');
});

it('signs in with a link of the command without JavaScript, and out again', async () => {
  const page = usedPage();
  const { client } = used().emulator.table;
  const members = new Members(createStores(createDynamoTable({ client, table: 'keys' }), []));
  const token = await members.invite('bob@example.com');
  await page.setJavaScriptEnabled(false);

  await page.goto(`${site}/account/sign-in?token=${token}`);
  await press(page, 'form button');
  const key = await page.$eval('#new-key', ({ textContent }) => textContent!);
  await page.goto(`${site}/account`);
  const account = await page.$eval('main', ({ textContent }) => textContent!);
  await press(page, '[action$="/account/sign-out"] button');

  expect((await used().ask({ app: 'imageproc' }, key)).body).toContain("'infile'");
  expect(account).toContain('bob@example.com');
  expect(page.url()).toBe(`${site}/account`);
  expect(await page.$eval('h1', ({ textContent }) => textContent)).toBe('Sign in');
});

it('signs up with a provider of the shape of Cognito', async () => {
  const page = usedPage();
  await page.setJavaScriptEnabled(false);
  await page.goto(`${site}/account`);
  await press(page, 'a.button');
  await page.goto(`${site}/account`);

  expect(await page.$eval('main', ({ textContent }) => textContent)).toContain('alice@example.com');
});

it.each(['/docs', '/docs/pdftools', '/support', '/account'])(
  'has only links that exist at %s',
  async (path) => {
    const page = usedPage();
    await page.goto(`${site}${path}`);
    const links = await page.$$eval('a[href], link[href], img[src]', (all) =>
      all.map((each) => (each as HTMLAnchorElement).href || (each as HTMLImageElement).src),
    );
    const own = [...new Set(links.map((link) => link.replace(/#.*/, '')))].filter((link) =>
      link.startsWith(site),
    );
    const statuses = await Promise.all(
      own.map(async (link) => [link, (await fetch(link, { redirect: 'manual' })).status]),
    );

    expect(own.length).toBeGreaterThan(4);
    expect(statuses.filter(([, status]) => status !== 200 && status !== 303)).toEqual([]);
    expect(links.filter((link) => !link.startsWith(site) && !link.includes('/api/openapi.json'))).toEqual([]);
  },
);
