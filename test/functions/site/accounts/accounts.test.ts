import { once } from 'node:events';
import { connect } from 'node:net';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSmtp } from '../../../../functions/platform/smtp.ts';
import { sessionCookie } from '../../../../functions/site/accounts/forms.ts';
import type { SignUp } from '../../../../functions/site/accounts/pages.ts';
import { dayText } from '../../../../functions/site/parts.ts';
import type { Stores } from '../../../../infra/local/stores.ts';
import { type MailServer, startMailServer } from '../mail-server.ts';
import { apiKeyIn, keyIdIn, openSite, type SiteUnderTest } from './site-under-test.ts';

let site: SiteUnderTest;
let stores: Stores;
let mailServer: MailServer;
let visit: SiteUnderTest['visit'];
/** Accounts whose files were deleted. */
let removed: readonly string[];

beforeAll(async () => {
  mailServer = await startMailServer();
});
afterAll(() => mailServer.close());
beforeEach(async () => {
  mailServer.mails.length = 0;
  site = await openSite(optionsFor('open'));
  ({ stores, visit, removed } = site);
});
afterEach(async () => {
  vi.useRealTimers();
  await site.close();
});

function optionsFor(signUp: SignUp, hasMail = true) {
  const sendMail = createSmtp(mailServer.url, 'docmill@example.com');
  return { signUp, sendMail: hasMail ? sendMail : undefined };
}

const serve = (signUp: SignUp, hasMail = true) => site.restart(optionsFor(signUp, hasMail));

const mailTo = (to: string) =>
  vi.waitUntil(() => mailServer.mails.find((mail) => mail.includes(`To: ${to}`)), 60_000);

/** Requests a link, and returns the token in its email. */
async function requestToken(email: string): Promise<string> {
  mailServer.mails.length = 0;
  await visit('/account/link', { form: { email } });
  const mail = (await mailTo(email.toLowerCase())).replace(/=\r?\n/g, '').replaceAll('=3D', '=');
  return /token=([\w-]{22})/.exec(mail)![1]!;
}

/** Signs in with an email, and returns the cookie and what the page shows. */
async function signIn(email: string) {
  const token = await requestToken(email);
  const { cookie, body } = await visit('/account/sign-in', { form: { token } });
  return { cookie: cookie!, token, body };
}

const rowOf = (body: string, text: string) =>
  body.match(/<tr>.*?<\/tr>/gs)?.find((row) => row.includes(text));

const signInOperator = (email?: string) => site.enterOperator(email);

describe('a store that fails', () => {
  it.each([
    ['/account', 'text/html', 'The page could not be shown.'],
    ['/operator', 'text/html', 'The page could not be shown.'],
    ['/site/session', 'application/json', 'Internal error'],
  ])('is an error of the page: %s', async (path, type, text) => {
    const { cookie } = await signIn('ada@example.com');
    vi.spyOn(stores.records, 'get').mockRejectedValue(new Error('The table cannot be reached.'));

    const { status, contentType, body } = await visit(path, { cookie });

    expect(status).toBeGreaterThanOrEqual(500);
    expect(contentType).toContain(type);
    expect(body).toContain(text);
  });
});

describe('signing up', () => {
  it('creates an account with a valid key, which survives one reload', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    const reloaded = await visit('/account', { cookie });
    const again = await visit('/account', { cookie });

    const apiKey = apiKeyIn(body)!;
    expect((await stores.keys.find(apiKey))?.name).toBe('alice@example.com');
    expect(again.body).toContain('alice@example.com');
    expect(again.body).toContain(keyIdIn(body));
    expect(apiKeyIn(reloaded.body)).toBe(apiKey);
    expect(again.body).not.toContain(apiKey);
  });

  it('says that a session has expired', async () => {
    const { location, body } = await visit('/account/keys', { form: { name: 'x' } });

    expect([location, body]).toEqual(['/account?expired', '']);
    expect((await visit(location!)).body).toContain('Your session has expired.');
  });

  it('signs a member in to the same account, however the email address is written', async () => {
    const first = await signIn('alice@example.com');
    const second = await signIn('Alice@EXAMPLE.com');
    const { body } = await visit('/account', { cookie: second.cookie });

    expect(apiKeyIn(second.body)).toBeUndefined();
    expect(body).toContain(keyIdIn(first.body));
    expect(await stores.keys.list()).toHaveLength(1);
  });

  it('uses a link once, also of many attempts at the same time', async () => {
    const token = await requestToken('alice@example.com');
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => visit('/account/sign-in', { form: { token } })),
    );

    expect(replies.filter(({ cookie }) => cookie)).toHaveLength(1);
    expect(replies.map(({ status }) => status).sort()).toEqual([303, ...Array(9).fill(400)]);
  });

  it('does not use a link that a program opens', async () => {
    const token = await requestToken('alice@example.com');
    const opened = await visit(`/account/sign-in?token=${token}`);
    const used = await visit('/account/sign-in', { form: { token } });

    expect([opened.status, opened.cookie, used.status]).toEqual([200, undefined, 303]);
    expect(used.cookie).toBeDefined();
  });

  it('refuses a link after 15 minutes', async () => {
    const token = await requestToken('alice@example.com');
    vi.useFakeTimers({ now: Date.now() + 15 * 60_000 + 1, toFake: ['Date'] });

    expect((await visit('/account/sign-in', { form: { token } })).status).toBe(400);
  });

  it.each(['invite', 'off'] as const)('with SIGN_UP=%s, tells nobody who is a member', async (signUp) => {
    await signIn('alice@example.com');
    await serve(signUp);
    mailServer.mails.length = 0;

    const [unknown, known] = [
      await visit('/account/link', { form: { email: 'mallory@example.com' } }),
      await visit('/account/link', { form: { email: 'alice@example.com' } }),
    ];
    await mailTo('alice@example.com');

    expect(unknown).toEqual(known);
    expect(mailServer.mails.join('')).not.toContain('mallory');
  });
});

describe('a conversion by session', () => {
  const QUERY = '/site/convert?app=auto&infile=https://example.org/a&outfile=a.png';

  it('is handed to the router for the account, with its restrictions', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    const { account } = (await stores.keys.get(keyIdIn(body)))!;
    await stores.accounts.update(account, { restrictions: { limits: { perMonth: 7 }, tools: ['pdftools'] } });

    await visit(QUERY, { form: {}, cookie });
    await visit('/site/convert/uploads?name=a', { form: {}, cookie });

    const record = { account, limits: { perMonth: 7 }, tools: ['pdftools'] };
    expect(site.routed).toMatchObject([
      { path: '/api/', member: record },
      { path: '/api/uploads', member: record },
    ]);
    expect((await visit('/site/session', { cookie })).body).toContain('alice@example.com');
  });

  it('shows operators that the account is used, which a visit does not', async () => {
    const operator = await signInOperator();
    const { cookie, body } = await signIn('alice@example.com');
    const { account } = (await stores.keys.get(keyIdIn(body)))!;
    const pages = async () => [
      rowOf((await visit('/operator/accounts', { cookie: operator })).body, 'alice@'),
      (await visit(`/operator/account?id=${account}`, { cookie: operator })).body.split('<h2>')[0],
    ];

    await visit('/site/session', { cookie });
    const before = await pages();
    await visit(QUERY, { form: {}, cookie });
    const after = await pages();

    const day = new Date().toISOString().slice(0, 10);
    expect(before).toEqual([expect.stringContaining('never'), expect.stringContaining('last used: never')]);
    expect(after).toEqual([
      expect.not.stringContaining('never'),
      expect.stringContaining(`last used: ${dayText(day)}`),
    ]);
  });

  it('needs a session that is still valid, and an account that is', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    const { account } = (await stores.keys.get(keyIdIn(body)))!;

    await visit(QUERY, { form: {} });
    await stores.accounts.update(account, { restrictions: { limits: {}, expires: Date.now() - 1 } });
    await visit(QUERY, { form: {}, cookie });
    await stores.accounts.update(account, { disabled: true });
    await visit(QUERY, { form: {}, cookie });

    expect(site.routed.map(({ member }) => member)).toEqual([undefined, undefined, undefined]);
  });

  it('is refused if another site sends it, or as a link', async () => {
    const { cookie } = await signIn('alice@example.com');
    const foreign = { Origin: 'https://evil.example' };

    expect((await visit(QUERY, { form: {}, cookie, headers: foreign })).status).toBe(403);
    expect((await visit(QUERY, { cookie })).status).toBe(404);
    expect(site.routed.filter(({ member }) => member)).toEqual([]);
  });
});

describe('the forms of the account pages', () => {
  it('emails at most five links in an hour to one person', async () => {
    for (let count = 0; count < 7; count += 1)
      await visit('/account/link', { form: { email: 'alice@example.com' } });
    await visit('/account/link', { form: { email: 'last@example.com' } });
    await mailTo('last@example.com');

    expect(mailServer.mails.filter((mail) => mail.includes('To: alice@'))).toHaveLength(5);
  });

  it('emails a link to a member in a known network, however many links strangers have requested', async () => {
    await signIn('alice@example.com');
    mailServer.mails.length = 0;
    for (let network = 1; network <= 5; network += 1)
      for (let count = 0; count < 5; count += 1)
        await visit('/account/link', {
          form: { email: 'alice@example.com' },
          headers: { 'X-Forwarded-For': `198.51.${network}.1` },
        });
    await visit('/account/link', { form: { email: 'last@example.com' } });
    await mailTo('last@example.com');
    const sent = mailServer.mails.length;

    await visit('/account/link', { form: { email: 'alice@example.com' } });

    await vi.waitUntil(() => mailServer.mails.length > sent, 60_000);
    expect(sent).toBe(20);
  });

  it('accepts one plain email address only', async () => {
    const lists = [
      'a@x.com,b@y.com',
      'a@x.com\r\nBcc: b@y.com',
      '<a@x.com>',
      'a',
      'a@',
      '"a b"@x.com',
      `${'a'.repeat(65)}@x.com`,
    ];
    for (const email of lists)
      expect([email, (await visit('/account/link', { form: { email } })).status]).toEqual([email, 400]);
    expect(mailServer.mails).toEqual([]);
  });

  it('refuses a form of more than 4 KB', async () => {
    expect((await visit('/account/link', { form: { email: 'a'.repeat(5000) } })).status).toBe(413);
  });

  it('protects the cookie of the session', async () => {
    const token = await requestToken('alice@example.com');
    const { setCookie } = await visit('/account/sign-in', { form: { token } });

    expect(setCookie).toMatch(/^docmill=[\w-]{22}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=2592000$/);
    expect(sessionCookie('https://x', 'a')).toMatch(
      /^__Host-docmill=a; Path=\/; HttpOnly; SameSite=Lax; .*; Secure$/,
    );
  });
});

describe('the account of a member', () => {
  it('rotates a key with an overlap of a day, and disables one', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    const id = keyIdIn(body);

    const rotated = await visit('/account/keys/rotate', { cookie, form: { id } });
    const until = (await stores.keys.get(id))!.expires!;
    await visit('/account/keys/disable', { cookie, form: { id } });

    expect(await stores.keys.find(apiKeyIn(rotated.body)!)).toMatchObject({ name: 'alice@example.com 2' });
    expect(until - Date.now()).toBeGreaterThan(23.9 * 3_600_000);
    expect(await stores.keys.get(id)).toMatchObject({ disabled: true });
  });

  it('cannot create a key that may do more than the account', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    const { account, id } = (await stores.keys.get(keyIdIn(body)))!;
    const restrictions = { tools: ['imageproc'], limits: { perMonth: 7 }, expires: Date.now() + 60_000 };
    await stores.accounts.update(account, { restrictions });
    await stores.keys.revoke(id);

    const created = await visit('/account/keys', { cookie, form: { name: 'second' } });
    await stores.accounts.update(account, { restrictions: { ...restrictions, expires: Date.now() - 1 } });
    const late = await visit('/account/keys', { cookie, form: { name: 'third' } });

    expect(await stores.keys.listOf(account)).toMatchObject([
      { ...restrictions, expires: expect.any(Number) },
    ]);
    expect(apiKeyIn(created.body)).toBeDefined();
    expect(late.body).toContain('has set an end for this account');
  });

  it('has at most 20 valid keys', async () => {
    const { cookie } = await signIn('alice@example.com');
    for (let count = 0; count < 19; count += 1) await visit('/account/keys', { cookie, form: { name: 'x' } });

    const refused = await visit('/account/keys', { cookie, form: { name: 'x' } });

    expect(refused.body).toContain('at most 20 valid keys');
    expect(await stores.keys.list()).toHaveLength(20);
  });

  it('has at most 200 keys, disabled ones included', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    const { account } = (await stores.keys.get(keyIdIn(body)))!;
    for (let count = 1; count < 200; count += 1) {
      const { record } = await stores.keys.create({ name: 'x', account });
      await stores.keys.update(record.id, { disabled: true });
    }

    const refused = await visit('/account/keys', { cookie, form: { name: 'x' } });

    expect(refused.body).toContain('at most 200 keys');
    expect(await stores.keys.list()).toHaveLength(200);
  });

  it('shows what is left, and the usage by day and tool', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    const { account } = (await stores.keys.get(keyIdIn(body)))!;
    const facts = {
      account,
      sourceBytes: 1,
      resultBytes: 1,
      pages: 1,
      milliseconds: 1,
      coldStarts: 0,
      cached: false,
    };
    await stores.usage.record({ ...facts, tool: 'pdftools', code: 'OK' });
    await stores.usage.record({ ...facts, tool: 'html2pdf', code: 'SOURCE_STATUS' });
    await stores.limiter.admit({ account, limits: {}, expires: Date.now() });

    const list = vi.spyOn(stores.keys, 'list');
    const { body: page } = await visit('/account', { cookie });
    await visit('/account/keys/disable', { cookie, form: { id: keyIdIn(body) } });
    await visit('/account/delete', { cookie, form: { email: 'alice@example.com' } });

    // It would read the keys of all accounts.
    expect(list).not.toHaveBeenCalled();
    expect(page).toContain('<p class="figure">999</p>');
    expect(page).toMatch(/SOURCE_STATUS<\/code><\/a> 1\).*<svg class="chart".*pdftools 1/s);
  });

  it('ends every session at once', async () => {
    const [one, other] = [await signIn('alice@example.com'), await signIn('alice@example.com')];
    await visit('/account/sign-out-everywhere', { cookie: one.cookie, form: {} });

    for (const { cookie } of [one, other])
      expect((await visit('/account', { cookie })).body).not.toContain('alice@');
  });

  it('shows recent failures with code and request ID', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    const { account } = (await stores.keys.get(keyIdIn(body)))!;
    const time = Date.UTC(2026, 10, 24, 1, 2, 3);
    vi.useFakeTimers({ now: time + 1000, toFake: ['Date'] });
    await stores.failures.record({
      account,
      time,
      code: 'TIMED_OUT',
      requestId: 'req-7',
      tool: 'html2pdf',
    });

    const { body: page } = await visit('/account', { cookie: (await signIn('alice@example.com')).cookie });

    expect(cookie).toBeDefined();
    expect(page).toMatch(/Nov 24, 2026, 01:02:03.*TIMED_OUT.*html2pdf.*req-7/s);
  });

  it('is deleted with its keys and files after the email address was entered', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    const { account } = (await stores.keys.get(keyIdIn(body)))!;
    const wrong = await visit('/account/delete', { cookie, form: { email: 'bob@example.com' } });
    const before = [await stores.keys.list(), [...removed]];
    await visit('/account/delete', { cookie, form: { email: 'alice@example.com' } });

    expect([wrong.status, before[0]!.length, before[1]]).toEqual([400, 1, []]);
    expect(await stores.keys.find(apiKeyIn(body)!)).toBeUndefined();
    expect((await visit('/account', { cookie })).body).not.toContain('alice@');
    expect(removed).toEqual([account]);
    expect(await stores.accounts.get(account)).toBeUndefined();
  });

  it('has the same quota until the month ends, and the same restrictions, if it is deleted and signs up again', async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 10, 24), toFake: ['Date'] });
    const first = await signIn('alice@example.com');
    const { account } = (await stores.keys.get(keyIdIn(first.body)))!;
    await stores.limiter.admit({ account, limits: {}, expires: Date.now() });
    const leave = ({ cookie }: { cookie: string }) =>
      visit('/account/delete', { cookie, form: { email: 'alice@example.com' } });
    await leave(first);

    vi.setSystemTime(Date.UTC(2026, 10, 25));
    const again = await signIn('alice@example.com');
    const old = await visit('/account', { cookie: first.cookie });
    const page = await visit('/account', { cookie: again.cookie });
    const second = await stores.keys.find(apiKeyIn(again.body)!);
    await leave(again);
    vi.setSystemTime(Date.UTC(2026, 11, 1));
    const later = await signIn('alice@example.com');
    const next = (await stores.keys.find(apiKeyIn(later.body)!))!.account;
    await stores.accounts.update(next, { restrictions: { limits: {}, tools: ['imageproc'] } });
    await leave(later);
    vi.setSystemTime(Date.UTC(2027, 1, 1));
    const restricted = await signIn('alice@example.com');

    expect(page.body).toContain('<p class="figure">999</p>');
    expect(second?.account).toBe(account);
    expect(old.body).not.toContain('alice@');
    expect(next).not.toBe(account);
    expect(await stores.keys.find(apiKeyIn(restricted.body)!)).toMatchObject({
      account: next,
      tools: ['imageproc'],
    });
  });
});

describe('the pages for operators', () => {
  it('can be reached with a link from the machine only, whose role no form gives', async () => {
    const member = await signIn('alice@example.com');
    const operator = await signInOperator();
    await visit('/account/link', { form: { email: 'operator' } });
    await visit('/account/link', { form: { email: 'bob@example.com', role: 'operator' } });
    const bob = await signIn('bob@example.com');

    expect((await visit('/operator', { cookie: operator })).body).toMatch(/1\.2\.3.*150/s);
    for (const { cookie } of [member, bob]) {
      const { status, body } = await visit('/operator', { cookie });
      expect([status, body.includes('href="/operator"')]).toEqual([404, false]);
    }
    expect((await visit('/operator')).location).toBe('/account');
  });

  it('shows engines, workers, storage, usage of all accounts and recent failures', async () => {
    const cookie = await signInOperator();
    const facts = {
      sourceBytes: 2e6,
      resultBytes: 1,
      pages: 1,
      milliseconds: 1,
      coldStarts: 0,
      cached: false,
    };
    for (const account of ['one', 'other'])
      await stores.usage.record({ ...facts, account, tool: 'pdftools', code: 'OK' });
    await stores.usage.record({ ...facts, account: 'one', tool: 'pdftools', code: 'TIMED_OUT' });
    await stores.accounts.add('one', 'one@example.com');
    await stores.failures.record({
      account: 'one',
      time: Date.now(),
      code: 'TIMED_OUT',
      requestId: 'req-1',
    });

    const { body } = await visit('/operator', { cookie });
    const earlier = await visit('/operator?month=2020-01', { cookie });

    expect(body).toMatch(/pdftools <span class="badge up">up<.*2 in progress, 3 waiting, 4 workers/s);
    expect(body).toMatch(/badge down">down<.*badge full">full</s);
    expect(body).toMatch(/1\.5 MB<\/p><p>results.*10 B<\/p><p>database/s);
    expect(body).toContain('Conversions: 3. Failed: 1 (');
    expect(body).toMatch(/pdftools<\/th><td>3<.*TIMED_OUT.* 1<\/td><td>6\.0</s);
    expect(rowOf(body, 'req-1')).toMatch(/"\/operator\/account\?id=one">one@example\.com <code>one</);
    expect(earlier.body).toContain('Nothing was converted');
  });

  it('lists accounts in pages, and finds them by email address and key', async () => {
    const cookie = await signInOperator();
    const { body: alice } = await signIn('alice@example.com');
    for (let count = 0; count < 30; count += 1) await stores.keys.create({ name: `key number ${count}` });

    const list = async (query: string) => (await visit(`/operator/accounts?${query}`, { cookie })).body;
    const rows = (body: string) => body.match(/<th scope="row">/g)?.length ?? 0;

    expect([rows(await list('')), rows(await list('page=2')), rows(await list('page=9'))]).toEqual([
      25, 7, 0,
    ]);
    expect(await list('page=2')).toContain('2 / 2');
    expect([rows(await list('search=ALICE@')), rows(await list('search=number+1'))]).toEqual([1, 11]);
    expect(await list(`search=${keyIdIn(alice)}`)).toContain('alice@example.com');
    expect(await list('search=%22%3E%3Cscript%3E')).toContain('value="&quot;&gt;&lt;script&gt;"');
  });

  it('create accounts and keys, change limits, disable and enable, each logged', async () => {
    const cookie = await signInOperator('olga@example.com');
    const post = (path: string, form: Readonly<Record<string, string>>) =>
      visit(`/operator/${path}`, { cookie, form, headers: { 'X-Forwarded-For': '203.0.113.9' } });

    const created = await post('accounts/create', {
      name: 'first',
      perMonth: '5',
      perMinute: '',
      concurrent: '',
    });
    const first = (await stores.keys.find(apiKeyIn(created.body)!))!;
    const { account, id } = first;
    const second = await post('keys/create', { account, name: 'second' });
    await post('keys/limits', { id, perMinute: '0', perMonth: '', concurrent: '2' });
    const bad = await post('keys/limits', { id, perMinute: '-1' });
    await post('keys/disable', { id });
    const disabled = await stores.keys.find(apiKeyIn(created.body)!);
    await post('keys/enable', { id });
    const none = [
      await post('keys/create', { account: 'nobody', name: 'x' }),
      await post('keys/limits', { id: 'x' }),
    ];
    const log = await stores.audit.read();
    const { body: page } = await visit('/operator/audit', { cookie });

    expect(first).toMatchObject({ name: 'first', limits: { perMonth: 5 } });
    expect(await stores.keys.find(apiKeyIn(second.body)!)).toMatchObject({ account, name: 'second' });
    expect([bad.status, disabled, ...none.map(({ status }) => status)]).toEqual([400, undefined, 404, 404]);
    expect(await stores.keys.find(apiKeyIn(created.body)!)).toMatchObject({
      limits: { perMinute: 0, concurrent: 2 },
    });
    expect(log.map(({ action, subject, details }) => [action, subject, details]).reverse()).toEqual([
      ['sign in', expect.any(String), ''],
      ['create account', account, 'first perMonth=5'],
      ['create key', account, 'second'],
      ['change limits', id, 'perMinute=0 perMonth=default concurrent=2'],
      ['disable key', id, ''],
      ['enable key', id, ''],
    ]);
    expect(log[0]).toMatchObject({ actor: 'olga@example.com', from: '203.0.113.9' });
    expect(rowOf(page, 'change limits')).toMatch(/olga@example\.com.*203\.0\.113\.9/s);
  });

  it('invite by email, or show the link if there is none', async () => {
    const cookie = await signInOperator();
    const { body } = await visit('/operator/accounts/invite', {
      cookie,
      form: { email: 'Carol@example.com' },
    });
    const mail = (await mailTo('carol@example.com')).replace(/=\r?\n/g, '').replaceAll('=3D', '=');
    const token = /token=([\w-]{22})/.exec(mail)![1]!;
    await serve('off');
    const carol = await visit('/account/sign-in', { form: { token } });
    await serve('off', false);
    const shown = await visit('/operator/accounts/invite', { cookie, form: { email: 'dave@example.com' } });

    expect(body).not.toContain('token=');
    expect([carol.location, apiKeyIn(carol.body)]).toEqual(['/', undefined]);
    expect((await visit('/operator', { cookie: carol.cookie! })).status).toBe(404);
    expect(shown.body).toMatch(
      /id="new-link">https:\/\/docs\.example\.com\/account\/sign-in\?token=[\w-]{22}</,
    );
  });

  it('invite in the language of their browser', async () => {
    const cookie = await signInOperator();
    const form = { email: 'rené@example.com' };
    await visit('/operator/accounts/invite', { cookie, form, headers: { 'Accept-Language': 'fr' } });
    const [, subject = ''] = /^Subject: =\?UTF-8\?Q\?(.*)\?=\r$/m.exec(await mailTo('rené@example.com'))!;

    expect(decodeURIComponent(subject.replaceAll('_', ' ').replaceAll('=', '%'))).toBe(
      'Votre invitation à docmill',
    );
  });

  it('are told what to do if an invitation cannot be emailed', async () => {
    const cookie = await signInOperator();
    const sendMail = () => Promise.reject(new Error('connection refused'));
    await site.restart({ signUp: 'off', sendMail });

    const { status, body } = await visit('/operator/accounts/invite', {
      cookie,
      form: { email: 'erin@example.com' },
    });

    expect(status).toBe(400);
    expect(body).toContain('Check the mail server (<code>SMTP_URL</code>');
    expect(body).not.toContain('token=');
  });

  it('disable an account with its keys, sessions and links at once, but not their own', async () => {
    const cookie = await signInOperator();
    const alice = await signIn('alice@example.com');
    const { account } = (await stores.keys.get(keyIdIn(alice.body)))!;
    const signing = await stores.keys.create({ name: 'signing', account, kind: 'signing' });
    const token = await requestToken('alice@example.com');
    const own = (await stores.accounts.search('operator', 0, 1)).accounts[0]!.id;

    await visit('/operator/accounts/disable', { cookie, form: { id: account } });
    const self = await visit('/operator/accounts/disable', { cookie, form: { id: own } });
    const during = [
      await stores.keys.find(apiKeyIn(alice.body)!),
      await stores.keys.findSigner(signing.record.id),
      (await visit('/account', { cookie: alice.cookie })).body.includes('alice@'),
      (await visit('/account/sign-in', { form: { token } })).cookie,
    ];
    await visit('/operator/accounts/enable', { cookie, form: { id: account } });

    const { body: log } = await visit('/operator/audit', { cookie });

    expect(during).toEqual([undefined, undefined, false, undefined]);
    expect(rowOf(log, 'disable account')).toContain(`alice@example.com <code>${account}</code>`);
    expect([self.status, (await stores.accounts.get(own))?.disabled]).toEqual([400, false]);
    // Whoever else had the session must not get it back.
    expect((await visit('/account', { cookie: alice.cookie })).body).not.toContain('alice@');
    expect(await stores.keys.find(apiKeyIn(alice.body)!)).toBeDefined();
  });

  it('end the sessions that an account had before it got the role', async () => {
    const alice = await signIn('alice@example.com');
    const operator = await signInOperator('alice@example.com');

    expect((await visit('/operator', { cookie: alice.cookie })).location).toBe('/account');
    expect((await visit('/operator', { cookie: operator })).status).toBe(200);
  });
});

it('refuses a form of another site, of members and of others', async () => {
  const alice = await site.enter('alice@example.com');
  const token = await site.members.invite('bob@example.com');
  const headers = { Origin: 'https://other.example' };

  const key = await visit('/account/keys', { form: { name: 'x' }, cookie: alice.cookie!, headers });
  const signIn = await visit('/account/sign-in', { form: { token }, headers });

  expect([key.status, signIn.status, signIn.cookie]).toEqual([403, 403, undefined]);
  expect((await visit('/account/sign-in', { form: { token } })).cookie).toBeDefined();
});

it('closes the connection of a form that does not arrive', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { host, port } = new URL(site.base());
  const socket = connect(Number(port), '127.0.0.1');
  const closed = once(socket.resume(), 'close');
  socket.write(
    `POST /account/link HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${site.base()}\r\nContent-Length: 100\r\n\r\nemail=`,
  );
  while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));

  vi.advanceTimersByTime(10_000);

  await closed;
});
