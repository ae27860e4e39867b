import { randomUUID } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { press } from '../use-browser.ts';
import { useSite } from '../use-site.ts';

const { checkAccess, mailServer, open, page, used } = await useSite();

it('shows the jobs of a member, who cancels one, sends a webhook again and rotates the secret', async () => {
  const { service, sources } = used();
  await page().setExtraHTTPHeaders({ 'Accept-Language': 'de' });
  await open('/account');
  await page().type('#email', `${randomUUID()}@example.com`);
  await press(page(), 'form.narrow button');
  const mail = await vi.waitUntil(() => mailServer.mails.at(-1), 60_000);
  await open(`/account/sign-in?token=${/token=3?D?([\w-]{22})/.exec(mail.replace(/=\r?\n/g, ''))![1]}`);
  await press(page(), 'main form button');
  const key = await page().$eval('#new-key', ({ textContent }) => textContent!);
  const submit = async (query: Readonly<Record<string, string>>) => {
    const body = new URLSearchParams(query);
    const headers = { 'x-api-key': key };
    const { status } = await fetch(`${service.base}/api/jobs`, { method: 'POST', headers, body });
    expect(status).toBe(202);
  };
  const job = { app: 'html2pdf', infile: sources.urlOf('page.html'), outfile: 'a.pdf' };
  await submit({ ...job, _webhook: sources.urlOf('nothing') });
  await submit({ ...job, '--javascript-delay': '20000' });
  const rows = async () => {
    await open('/account');
    return page().$$eval('[aria-label="Aufträge"] tbody tr', (all) =>
      all.map(({ cells }) => [...cells].slice(2).map(({ textContent }) => textContent)),
    );
  };
  await expect.poll(rows).toEqual([
    ['html2pdf', 'läuft', '–', 'Abbrechen'],
    ['html2pdf', 'fertig', 'steht aus (status 404)', 'Erneut senden'],
  ]);
  await page().click('details summary');
  await checkAccess();
  const secret = () => page().$eval('details code', ({ textContent }) => textContent!);
  const before = await secret();
  const asked = () => sources.asked.filter((path) => path.includes('nothing')).length;
  const attempts = asked();

  await press(page(), '[action="/account/jobs/cancel"] button');
  await press(page(), '[action="/account/jobs/deliver"] button');
  await page().click('details summary');
  await press(page(), '[action="/account/jobs/secret"] button');

  expect((await rows())[0]).toEqual(['html2pdf', 'abgebrochen', '–', '']);
  await expect.poll(asked).toBeGreaterThan(attempts);
  expect(before).toMatch(/^whsec_/);
  expect(await secret()).not.toBe(before);
});
