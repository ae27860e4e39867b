import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { Members } from '../../../../functions/site/accounts/members.ts';
import type { SignUp } from '../../../../functions/site/accounts/pages.ts';
import { assetsOf } from '../../../../functions/site/html.ts';
import { createSite, type Site } from '../../../../functions/site/site.ts';
import { TEXTS } from '../../../../functions/site/texts.ts';
import { createHttpServer } from '../../../../infra/local/server/http/server.ts';
import { openStores, type Stores } from '../../../../infra/local/stores.ts';
import { CLIENT, startProvider, type TestProvider } from './provider.ts';

const { providers: TEXT } = TEXTS.en.account;
const CALLBACK = '/account/openid/callback';
const ALICE = { subject: 'alice', email: 'alice@example.com', email_verified: true };

let directory: string;
let stores: Stores;
let provider: TestProvider;
let site: Site;
let base: string;
let close: () => void;

beforeAll(async () => {
  const { server } = createHttpServer({
    log: () => {},
    storage: undefined as never,
    connections: 1000,
    texts: new Map(),
    site: { respond: (...request) => site.respond(...request) },
    route: async () => ({ status: 404, headers: {}, body: 'not a page' }),
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  close = () => {
    server.closeAllConnections();
    server.close();
  };
  provider = await startProvider(() => base + CALLBACK);
});
afterAll(() => {
  close();
  provider.close();
});
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'openid-'));
  stores = openStores(directory);
  provider.person = ALICE;
  provider.tamper = undefined;
  serve('open');
});
afterEach(async () => {
  stores.close();
  await rm(directory, { recursive: true });
});

function serve(signUp: SignUp, issuer = provider.issuer): void {
  site = createSite({
    tools: [],
    assets: assetsOf({ script: '', style: '' }),
    maxSource: 1,
    resultHours: 24,
    accounts: {
      ...stores,
      defaultLimits: {},
      signUp,
      openId: { issuer, ...CLIENT },
      origin: base,
      operation: { health: async () => ({}), version: {} },
      callApi: async () => {},
      log: () => {},
    },
  });
}

/** A browser, which keeps cookies by host. */
class Browser {
  readonly #cookies = new Map<string, string>();

  /** Opens a URL without following redirects. */
  async open(url: string, headers: Readonly<Record<string, string>> = {}) {
    const { origin } = new URL(url);
    const own = [...this.#cookies].filter(([name]) => name.startsWith(`${origin} `));
    const cookie = own.map(([name, value]) => `${name.slice(origin.length + 1)}=${value}`).join('; ');
    const response = await fetch(url, { redirect: 'manual', headers: { Cookie: cookie, ...headers } });
    for (const line of response.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!;
      this.#cookies.set(`${origin} ${name}`, value!);
    }
    const location = response.headers.get('location');
    const next = location === null ? undefined : new URL(location, url).href;
    return { status: response.status, headers: response.headers, next, body: await response.text() };
  }

  /** Begins to sign in, and returns the URL of the redirect back to the service without opening it. */
  async redirectBack(): Promise<string> {
    let { next } = await this.open(`${base}/account/openid`);
    while (next !== undefined && !next.startsWith(base)) ({ next } = await this.open(next));
    return next!;
  }

  async signIn() {
    return this.open(await this.redirectBack());
  }

  /** The email address of whoever is signed in. */
  async member(): Promise<string | undefined> {
    const { body } = await this.open(`${base}/account`);
    return /signed in as ([^<]+)/i.exec(body)?.[1];
  }
}

/** Signs in with a link, as an invited person does. */
async function joinByLink(email: string): Promise<string> {
  const members = new Members(stores);
  const { session } = (await members.redeem(await members.invite(email)))!;
  return (await members.find(session))!.account;
}

describe('a sign-in with a provider', () => {
  it('creates an account with its first key, and finds it again by the subject', async () => {
    const first = await new Browser().signIn();
    provider.person = { ...ALICE, email: 'alice@new.example.com', email_verified: false };
    const again = new Browser();
    const second = await again.signIn();

    expect([first.status, first.next]).toEqual([303, `${base}/account#new-key`]);
    expect([second.status, second.next]).toEqual([303, `${base}/`]);
    expect(await again.member()).toBe('alice@example.com');
    expect(new Set((await stores.keys.list()).map(({ account }) => account)).size).toBe(1);
  });

  it('sends a challenge, a nonce, and the redirect URI of the setting, whatever the host header says', async () => {
    const { headers } = await new Browser().open(`${base}/account/openid`, { Host: 'evil.example' });

    const { searchParams } = new URL(headers.get('location')!);
    expect(searchParams.get('redirect_uri')).toBe(base + CALLBACK);
    expect(searchParams.get('code_challenge_method')).toBe('S256');
    expect(searchParams.get('nonce')).toMatch(/^[\w-]{43}$/);
    expect(headers.get('set-cookie')).toMatch(/; HttpOnly; SameSite=Lax; Max-Age=600$/);
  });

  it('joins the account of a verified email address', async () => {
    const account = await joinByLink(ALICE.email);
    serve('off');
    const browser = new Browser();

    await browser.signIn();

    expect(await browser.member()).toBe(ALICE.email);
    expect((await stores.keys.list()).map((key) => key.account)).toEqual([account]);
  });

  it.each(['invite', 'off'] as const)('creates no account if sign-up is %s', async (signUp) => {
    serve(signUp);

    const { status, body } = await new Browser().signIn();

    expect([status, body.includes(TEXT.noAccount)]).toEqual([400, true]);
    expect(await stores.keys.list()).toEqual([]);
  });

  it('ends the session that the browser had before', async () => {
    const browser = new Browser();
    const first = await browser.signIn();
    const old = /^[^;]+/.exec(first.headers.get('set-cookie')!)![0];

    await browser.signIn();

    const { body } = await new Browser().open(`${base}/account`, { Cookie: old });
    expect(body).toContain(TEXTS.en.account.signInWith);
  });

  it('does not find an account that was deleted', async () => {
    await new Browser().signIn();
    const members = new Members(stores);
    const [key] = await stores.keys.list();
    await members.erase(key!.account, ALICE.email);
    provider.person = { ...ALICE, email: 'other@example.com' };
    const browser = new Browser();

    await browser.signIn();

    expect(await browser.member()).toBe('other@example.com');
  });

  it('says that the person has declined', async () => {
    const browser = new Browser();
    const begun = await browser.open(`${base}/account/openid`);
    const state = new URL(begun.next!).searchParams.get('state')!;
    const { status, body } = await browser.open(
      `${base}${CALLBACK}?${new URLSearchParams({ error: 'access_denied', state, iss: provider.issuer })}`,
    );

    expect([status, body.includes(TEXT.failed)]).toEqual([400, true]);
  });
});

describe('an attack on a sign-in', () => {
  /** Opens a URL, and returns the status and whether somebody is signed in afterwards. */
  async function attempt(browser: Browser, url: string) {
    const { status } = await browser.open(url);
    return [status, await browser.member()];
  }

  it('cannot use a redirect twice', async () => {
    const browser = new Browser();
    const url = await browser.redirectBack();
    await browser.open(url);

    const { status, body } = await browser.open(url);

    expect([status, body.includes(TEXT.expired)]).toEqual([400, true]);
  });

  it("cannot sign another browser in to the attacker's account", async () => {
    const attacker = new Browser();
    const victim = new Browser();
    const url = await attacker.redirectBack();
    const unasked = await attempt(victim, url);
    await victim.open(`${base}/account/openid`);

    expect(unasked).toEqual([400, undefined]);
    expect(await attempt(victim, url)).toEqual([400, undefined]);
  });

  it('cannot inject the code of another browser into a sign-in that it has begun', async () => {
    const victimUrl = new URL(await new Browser().redirectBack());
    const attacker = new Browser();
    const own = new URL(await attacker.redirectBack());
    own.searchParams.set('code', victimUrl.searchParams.get('code')!);

    expect(await attempt(attacker, own.href)).toEqual([400, undefined]);
  });

  it.each([
    ['state', 'A'.repeat(43)],
    ['iss', 'https://other.example.com'],
    ['iss', ''],
    ['code', 'A'.repeat(43)],
  ])('cannot replace %s', async (name, value) => {
    const browser = new Browser();
    const url = new URL(await browser.redirectBack());
    if (value === '') url.searchParams.delete(name);
    else url.searchParams.set(name, value);

    expect(await attempt(browser, url.href)).toEqual([400, undefined]);
  });

  it('cannot begin a sign-in from the page of another site', async () => {
    const { next } = await new Browser().open(`${base}/account/openid`, { 'Sec-Fetch-Site': 'cross-site' });

    expect(next).toBe(`${base}/account`);
  });

  it.each(['open', 'off'] as const)(
    'cannot take over or prepare an account with an email address that is not verified (sign-up %s)',
    async (signUp) => {
      await joinByLink(ALICE.email);
      serve(signUp);
      provider.person = { subject: 'mallory', email: ALICE.email, email_verified: false };
      const taken = await new Browser().signIn();
      provider.person = { subject: 'mallory', email: 'bob@example.com', email_verified: false };
      const prepared = await new Browser().signIn();

      for (const { status, body } of [taken, prepared])
        expect([status, body.includes(TEXT.unverified)]).toEqual([400, true]);
      expect(await stores.keys.list()).toHaveLength(1);
    },
  );

  it('cannot become an operator, before or after an identity belongs to the account', async () => {
    const members = new Members(stores);
    await members.redeem(await members.inviteOperator('operator@example.com'));
    provider.person = { subject: 'mallory', email: 'operator@example.com', email_verified: true };
    const unbound = await new Browser().signIn();
    provider.person = ALICE;
    await new Browser().signIn();
    await members.redeem(await members.inviteOperator(ALICE.email));
    const bound = await new Browser().signIn();

    for (const { status, body } of [unbound, bound])
      expect([status, body.includes(TEXT.operator)]).toEqual([400, true]);
  });

  it('cannot take over an account whose email address the provider gave to another person', async () => {
    await new Browser().signIn();
    provider.person = { ...ALICE, subject: 'mallory' };
    const browser = new Browser();

    const { status, body } = await browser.signIn();

    expect([status, body.includes(TEXT.otherIdentity)]).toEqual([400, true]);
    expect(await browser.member()).toBeUndefined();
  });

  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const partOf = (token: string, index: number) =>
    JSON.parse(Buffer.from(token.split('.')[index]!, 'base64url').toString()) as object;

  it.each<[string, (token: string) => string]>([
    ['is not signed', (token) => `${part({ alg: 'none' })}.${token.split('.')[1]}.`],
    [
      'is signed with the secret',
      (token) => `${part({ alg: 'HS256' })}.${token.split('.').slice(1).join('.')}`,
    ],
    [
      'was changed',
      (token) => token.replace(/\..+\./, `.${part({ ...partOf(token, 1), email: 'bob@example.com' })}.`),
    ],
    [
      'has another nonce',
      (token) => token.replace(/\..+\./, `.${part({ ...partOf(token, 1), nonce: 'a' })}.`),
    ],
  ])('cannot use an ID token that %s', async (_, change) => {
    provider.tamper = (tokens) => {
      tokens.id_token = change(tokens.id_token);
    };
    const browser = new Browser();

    expect(await attempt(browser, await browser.redirectBack())).toEqual([400, undefined]);
  });
});

describe('a provider that does not work', () => {
  /** Serves something else than a provider, and returns what a sign-in shows. */
  async function signInWith(answer: Parameters<typeof createServer>[1]) {
    const server = createServer(answer);
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    serve('open', `http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const { status, body } = await new Browser().open(`${base}/account/openid`);
    server.closeAllConnections();
    server.close();
    return [status, body.includes(TEXT.unavailable)];
  }

  it('is given up when it does not respond', async () => {
    expect(await signInWith(() => {})).toEqual([502, true]);
  }, 20_000);

  it('is not read beyond a limit', async () => {
    const piece = Buffer.alloc(100_000, ' ');
    let sent = 0;
    let isClosed = false;
    const result = await signInWith((_, response) => {
      response.writeHead(200, { 'Content-Type': 'application/json' });
      response.once('close', () => (isClosed = true));
      const send = () => {
        while (sent < 50_000_000 && !isClosed) {
          sent += piece.length;
          if (!response.write(piece)) return void response.once('drain', send);
        }
        response.end('{}');
      };
      send();
    });

    expect(result).toEqual([502, true]);
    expect(sent).toBeLessThan(50_000_000);
  });
});
