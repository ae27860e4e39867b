import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import { type AddressInfo, connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import { SMTPServer } from 'smtp-server';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSmtp } from '../../../../functions/platform/mail/smtp.ts';
import { createAccounts, sessionCookie } from '../../../../functions/site/accounts/accounts.ts';
import type { SignUp } from '../../../../functions/site/accounts/pages.ts';
import { assetsOf } from '../../../../functions/site/assets.ts';
import { createSite } from '../../../../functions/site/site.ts';
import { type Accounts, openAccounts } from '../../../../infra/local/accounts.ts';
import { createHttpServer } from '../../../../infra/local/server/http/server.ts';

const ORIGIN = 'https://docs.example.com';

let directory: string;
let accounts: Accounts;
let mails: string[];
let smtp: SMTPServer;
let base: string;
let close: () => void;
let forms: readonly string[];

beforeAll(async () => {
  smtp = new SMTPServer({
    disabledCommands: ['AUTH', 'STARTTLS'],
    onData: (stream, _session, done) => {
      void textOf(stream).then((mail) => {
        mails.push(mail);
        done();
      });
    },
  });
  smtp.listen(0, '127.0.0.1');
  await once(smtp.server, 'listening');
});
afterAll(() => new Promise<void>((resolve) => smtp.close(resolve)));
beforeEach(async () => {
  mails = [];
  directory = await mkdtemp(join(tmpdir(), 'accounts-'));
  accounts = openAccounts(directory);
  await serve('open');
});
afterEach(async () => {
  vi.useRealTimers();
  close();
  accounts.close();
  await rm(directory, { recursive: true });
});

/** Serves the site alone. */
async function serve(signUp: SignUp): Promise<void> {
  close?.();
  const { port: mailPort } = smtp.server.address() as AddressInfo;
  const dependencies = {
    ...accounts,
    defaultLimits: { perMonth: 1000 },
    signUp,
    sendMail: createSmtp(`smtp://127.0.0.1:${mailPort}`, 'docmill@example.com'),
    origin: ORIGIN,
    log: () => {},
  };
  forms = createAccounts(dependencies).forms;
  const { server } = createHttpServer({
    storage: undefined as never,
    connections: 1000,
    texts: new Map(),
    site: createSite({ tools: [], assets: assetsOf({ script: '', style: '' }), accounts: dependencies }),
    route: async () => ({ status: 404, headers: {}, body: 'not a page' }),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => {
    server.closeAllConnections();
    server.close();
  };
}

interface Sent {
  readonly form?: Readonly<Record<string, string>>;
  readonly cookie?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request as a browser does, and returns its reply. */
async function visit(path: string, { form, cookie, headers }: Sent = {}) {
  const sent = request(`${base}${path}`, {
    method: form ? 'POST' : 'GET',
    headers: {
      ...(form && { Origin: base, 'Content-Type': 'application/x-www-form-urlencoded' }),
      ...(cookie && { Cookie: cookie }),
      ...headers,
    },
  });
  sent.end(form ? new URLSearchParams(form).toString() : undefined);
  const [response] = await once(sent, 'response');
  const body = await textOf(response);
  const [setCookie] = (response.headers['set-cookie'] ?? []) as string[];
  return {
    status: response.statusCode as number,
    location: response.headers.location as string | undefined,
    setCookie,
    cookie: setCookie?.split(';')[0],
    body,
  };
}

const mailTo = (to: string) => vi.waitUntil(() => mails.find((mail) => mail.includes(`To: ${to}`)), 10_000);

/** Requests a link, and returns the token in its mail. */
async function requestToken(email: string): Promise<string> {
  mails = [];
  await visit('/account/link', { form: { email } });
  const mail = (await mailTo(email.toLowerCase())).replace(/=\r?\n/g, '').replaceAll('=3D', '=');
  return /token=([\w-]{22})/.exec(mail)![1]!;
}

/** Signs in with a mail, and returns the cookie and what the page shows. */
async function signIn(email: string) {
  const token = await requestToken(email);
  const { cookie, body } = await visit('/account/sign-in', { form: { token } });
  return { cookie: cookie!, token, body };
}

const apiKeyIn = (body: string) => /id="new-key">([0-9A-Z-]+)</.exec(body)?.[1];
const keyIdIn = (body: string) => /key_[0-9A-Z]{10}/.exec(body)![0];

describe('signing up', () => {
  it('creates an account with a valid key, which is shown once', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    const again = await visit('/account', { cookie });

    const apiKey = apiKeyIn(body)!;
    expect((await accounts.keys.find(apiKey))?.name).toBe('first');
    expect(again.body).toContain('alice@example.com');
    expect(again.body).toContain(keyIdIn(body));
    expect(again.body).not.toContain(apiKey);
  });

  it('signs a member in to the same account, however the e-mail is written', async () => {
    const first = await signIn('alice@example.com');
    const second = await signIn('Alice@EXAMPLE.com');
    const { body } = await visit('/account', { cookie: second.cookie });

    expect(apiKeyIn(second.body)).toBeUndefined();
    expect(body).toContain(keyIdIn(first.body));
    expect(await accounts.keys.list()).toHaveLength(1);
  });

  it('uses a link once, also of many attempts at the same time', async () => {
    const token = await requestToken('alice@example.com');
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => visit('/account/sign-in', { form: { token } })),
    );

    expect(replies.filter(({ cookie }) => cookie)).toHaveLength(1);
    expect(replies.map(({ status }) => status).sort()).toEqual([200, ...Array(9).fill(400)]);
  });

  it('does not use a link that a program opens', async () => {
    const token = await requestToken('alice@example.com');
    const opened = await visit(`/account/sign-in?token=${token}`);
    const used = await visit('/account/sign-in', { form: { token } });

    expect([opened.status, opened.cookie, used.status]).toEqual([200, undefined, 200]);
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
    mails = [];

    const [unknown, known] = [
      await visit('/account/link', { form: { email: 'mallory@example.com' } }),
      await visit('/account/link', { form: { email: 'alice@example.com' } }),
    ];
    await mailTo('alice@example.com');

    expect(unknown).toEqual(known);
    expect(mails.join('')).not.toContain('mallory');
  });
});

describe('attacks on the account pages', () => {
  it('mails links with the configured origin, whatever the host of the request is', async () => {
    await visit('/account/link', {
      form: { email: 'alice@example.com' },
      headers: { Host: 'evil.example', Origin: 'http://evil.example', 'X-Forwarded-Host': 'evil.example' },
    });

    const mail = (await mailTo('alice@example.com')).replace(/=\r?\n/g, '');
    expect(mail).toContain(`${ORIGIN}/account/sign-in?token`);
    expect(mail).not.toContain('evil');
  });

  it('refuses every form that another site sends', async () => {
    const { cookie } = await signIn('alice@example.com');
    const token = await requestToken('bob@example.com');
    const foreign: ReadonlyArray<Readonly<Record<string, string>>> = [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: '' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ];
    for (const path of [...forms, '/account/sign-out', '/account/link', '/account/sign-in']) {
      for (const headers of foreign) {
        const form = {
          token,
          email: 'alice@example.com',
          name: 'x',
          id: keyIdIn((await visit('/account', { cookie })).body),
        };
        const { status, setCookie } = await visit(path, { form, cookie, headers });

        expect([path, headers, status, setCookie]).toEqual([path, headers, 403, undefined]);
      }
    }
    expect(await accounts.keys.list()).toMatchObject([{ disabled: false }]);
  });

  it('gives a session of its own to each sign-in, and ends the one before it', async () => {
    const first = await signIn('alice@example.com');
    const token = await requestToken('alice@example.com');
    const second = await visit('/account/sign-in', { form: { token }, cookie: first.cookie });
    const fixed = await visit('/account', { cookie: 'docmill=AAAAAAAAAAAAAAAAAAAAAA' });

    expect(second.cookie).not.toBe(first.cookie);
    expect((await visit('/account', { cookie: first.cookie })).body).not.toContain('alice@');
    expect((await visit('/account', { cookie: second.cookie! })).body).toContain('alice@');
    expect(fixed.setCookie).toBeUndefined();
  });

  it('lets no account read or change the keys of another, on any route', async () => {
    const [alice, bob] = [await signIn('alice@example.com'), await signIn('bob@example.com')];
    const id = keyIdIn(alice.body);
    const before = await accounts.keys.get(id);

    for (const path of ['/account', '/account/sign-in', ...forms]) {
      const form = { id, email: 'alice@example.com', name: 'x' };
      const { cookie } = path === '/account/sign-out-everywhere' ? await signIn('bob@example.com') : bob;
      const replies = [await visit(path, { cookie }), await visit(path, { cookie, form })];

      for (const { body } of replies)
        expect([path, body.match(/alice@/g), body.includes(id)]).toEqual([path, null, false]);
      if (path === '/account/sign-out-everywhere') bob.cookie = (await signIn('bob@example.com')).cookie;
    }
    expect(await accounts.keys.get(id)).toEqual(before);
    expect((await visit('/account', { cookie: alice.cookie })).body).toContain('alice@');
  });

  it('shows names as text', async () => {
    const { cookie } = await signIn('alice@example.com');
    const name = '"><script>alert(1)</script>';
    const { body } = await visit('/account/keys', { cookie, form: { name } });

    expect(body).toContain('&lt;script&gt;');
    expect(body).not.toContain('<script>');
  });

  it('redirects to its own page only', async () => {
    const { cookie } = await signIn('alice@example.com');
    const evil = 'next=//evil.example&return=https://evil.example';
    for (const path of ['/account/sign-out', ...forms]) {
      const { location = '/account' } = await visit(`${path}?${evil}`, {
        cookie,
        form: { next: '//evil.example' },
      });
      expect([path, location]).toEqual([path, '/account']);
    }
  });

  it('stops guesses and requests for links from one IP address after a while', async () => {
    const guesses = Array.from({ length: 70 }, (_, index) =>
      visit('/account/sign-in', { form: { token: String(index).padStart(22, 'A') } }),
    );
    const statuses = (await Promise.all(guesses)).map(({ status }) => status);

    expect(statuses.filter((status) => status === 400)).toHaveLength(60);
    expect(statuses.filter((status) => status === 429)).toHaveLength(10);
    expect((await visit('/account/link', { form: { email: 'a@example.com' } })).status).toBe(429);
  });

  it('mails at most five links in an hour to one person', async () => {
    for (let count = 0; count < 7; count += 1)
      await visit('/account/link', { form: { email: 'alice@example.com' } });
    await visit('/account/link', { form: { email: 'last@example.com' } });
    await mailTo('last@example.com');

    expect(mails.filter((mail) => mail.includes('To: alice@'))).toHaveLength(5);
  });

  it('accepts one plain e-mail only', async () => {
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
    expect(mails).toEqual([]);
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
    const until = (await accounts.keys.get(id))!.expires!;
    await visit('/account/keys/disable', { cookie, form: { id } });

    expect(await accounts.keys.find(apiKeyIn(rotated.body)!)).toMatchObject({ name: 'first' });
    expect(until - Date.now()).toBeGreaterThan(23.9 * 3_600_000);
    expect(await accounts.keys.get(id)).toMatchObject({ disabled: true });
  });

  it('gives further keys the limits of the first', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    await accounts.keys.update(keyIdIn(body), { limits: { perMonth: 7 } });
    await visit('/account/keys/disable', { cookie, form: { id: keyIdIn(body) } });

    const created = await visit('/account/keys', { cookie, form: { name: 'second' } });

    expect((await accounts.keys.find(apiKeyIn(created.body)!))?.limits).toEqual({ perMonth: 7 });
  });

  it('has at most 20 valid keys', async () => {
    const { cookie } = await signIn('alice@example.com');
    for (let count = 0; count < 22; count += 1) await visit('/account/keys', { cookie, form: { name: 'x' } });

    expect(await accounts.keys.list()).toHaveLength(20);
  });

  it('shows what is left, and the usage by day and tool', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    const { account } = (await accounts.keys.get(keyIdIn(body)))!;
    const facts = {
      account,
      sourceBytes: 1,
      resultBytes: 1,
      pages: 1,
      milliseconds: 1,
      coldStarts: 0,
      cached: false,
    };
    await accounts.usage.record({ ...facts, tool: 'pdftools', code: 'OK' });
    await accounts.usage.record({ ...facts, tool: 'html2pdf', code: 'SOURCE_STATUS' });
    await accounts.limiter.admit({ account, limits: {}, expires: Date.now() });

    const { body: page } = await visit('/account', { cookie });

    expect(page).toContain('<p class="figure">999</p>');
    expect(page).toMatch(/<svg class="chart".*pdftools 1.*SOURCE_STATUS/s);
  });

  it('ends every session at once', async () => {
    const [one, other] = [await signIn('alice@example.com'), await signIn('alice@example.com')];
    await visit('/account/sign-out-everywhere', { cookie: one.cookie, form: {} });

    for (const { cookie } of [one, other])
      expect((await visit('/account', { cookie })).body).not.toContain('alice@');
  });

  it('is deleted with its keys after the e-mail was entered', async () => {
    const { cookie, body } = await signIn('alice@example.com');
    const wrong = await visit('/account/delete', { cookie, form: { email: 'bob@example.com' } });
    const before = await accounts.keys.list();
    await visit('/account/delete', { cookie, form: { email: 'alice@example.com' } });

    expect([wrong.status, before.length]).toEqual([400, 1]);
    expect(await accounts.keys.find(apiKeyIn(body)!)).toBeUndefined();
    expect((await visit('/account', { cookie })).body).not.toContain('alice@');
  });
});

it('closes the connection of a form that does not arrive', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { host, port } = new URL(base);
  const socket = connect(Number(port), '127.0.0.1');
  const closed = once(socket.resume(), 'close');
  socket.write(
    `POST /account/link HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${base}\r\nContent-Length: 100\r\n\r\nemail=`,
  );
  while (vi.getTimerCount() === 0) await new Promise((resolve) => setImmediate(resolve));

  vi.advanceTimersByTime(10_000);

  await closed;
});
