import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text as textOf } from 'node:stream/consumers';
import type { SendMail } from '../../../../functions/platform/smtp.ts';
import type { HttpRequest } from '../../../../functions/router/http.ts';
import { createAccounts } from '../../../../functions/site/accounts/accounts.ts';
import { Members } from '../../../../functions/site/accounts/members.ts';
import type { SignUp } from '../../../../functions/site/accounts/pages.ts';
import { assetsOf } from '../../../../functions/site/html.ts';
import { createSite } from '../../../../functions/site/site.ts';
import { createHttpServer } from '../../../../infra/local/server/http/server.ts';
import { openStores, type Stores } from '../../../../infra/local/stores.ts';

export const ORIGIN = 'https://docs.example.com';

interface Sent {
  readonly form?: Readonly<Record<string, string>>;
  readonly cookie?: string | undefined;
  readonly headers?: Readonly<Record<string, string>>;
}

export interface SiteOptions {
  readonly signUp: SignUp;
  readonly sendMail?: SendMail | undefined;
}

export type SiteUnderTest = Awaited<ReturnType<typeof openSite>>;

/** Serves the site alone, with a database of its own. */
export async function openSite(initial: SiteOptions) {
  const directory = await mkdtemp(join(tmpdir(), 'accounts-'));
  const stores: Stores = openStores(directory);
  /** Accounts whose files were deleted. */
  const removed: string[] = [];
  /** Requests that the router got from the site. */
  const routed: HttpRequest[] = [];
  let { base, forms, pages, close } = await serve(initial);

  async function serve({ signUp, sendMail }: SiteOptions) {
    const dependencies = {
      ...stores,
      defaultLimits: { perMonth: 1000 },
      signUp,
      sendMail,
      origin: ORIGIN,
      operation: {
        health: async () => ({ pdftools: 'up', html2pdf: 'down' }) as const,
        machine: () => ({ disk: 'full' }) as const,
        version: { version: '1.2.3', engines: { chromium: '150' } },
        work: async () => ({ pdftools: { running: 2, waiting: 3, workers: 4 } }),
        storage: async () => ({ results: 1_500_000, database: 10 }),
      },
      removeFiles: async (account: string) => void removed.push(account),
      callApi: async () => {},
      log: () => {},
    };
    const { server } = createHttpServer({
      log: () => {},
      storage: undefined as never,
      connections: 1000,
      texts: new Map(),
      site: createSite({
        tools: [],
        assets: assetsOf({ script: '', style: '' }),
        maxSource: 1,
        resultHours: 24,
        accounts: dependencies,
      }),
      route: async (request) => {
        if (request.path.startsWith('/api')) routed.push(request);
        return { status: 404, headers: {}, body: 'not a page' };
      },
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return {
      ...createAccounts(dependencies),
      base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
      close: () => {
        server.closeAllConnections();
        server.close();
      },
    };
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
    const [setCookie] = (response.headers['set-cookie'] ?? []) as string[];
    const text: string = await textOf(response);
    const own = setCookie?.split(';')[0] ?? cookie;
    // Follows the redirect to a new key, as a browser does.
    const isNewKey = response.headers.location === '/account#new-key';
    const body: string = isNewKey ? (await visit('/account', { cookie: own })).body : text;
    return {
      status: response.statusCode as number,
      location: response.headers.location as string | undefined,
      contentType: response.headers['content-type'] as string | undefined,
      policy: response.headers['content-security-policy'] as string | undefined,
      setCookie,
      cookie: setCookie?.split(';')[0],
      body,
    };
  }

  const members = new Members(stores);
  let entered = 0;

  return {
    stores,
    removed,
    routed,
    visit,
    members,
    base: () => base,
    forms: () => forms,
    pages: () => pages,

    /** Restarts the server with other settings. */
    async restart(options: SiteOptions): Promise<void> {
      close();
      ({ base, forms, pages, close } = await serve(options));
    },

    /** Signs in with a link that an operator created, and returns the cookie and what the account page shows. */
    async enter(email: string) {
      const token = await members.invite(email);
      entered += 1;
      // Attempts from one IP address are limited.
      const headers = { 'X-Forwarded-For': `192.0.2.${entered % 250}` };
      const { cookie, status } = await visit('/account/sign-in', { form: { token }, headers });
      if (!cookie) throw new Error(`${email} could not sign in: ${status}.`);
      const { body } = await visit('/account', { cookie });
      return { cookie, token, body };
    },

    /** Signs in an operator, and returns the cookie. */
    async enterOperator(email?: string): Promise<string> {
      const token = await members.inviteOperator(email);
      return (await visit('/account/sign-in', { form: { token } })).cookie!;
    },

    async close(): Promise<void> {
      close();
      stores.close();
      await rm(directory, { recursive: true });
    },
  };
}

export const apiKeyIn = (body: string) => /id="new-key">([0-9A-Z-]+)</.exec(body)?.[1];
export const keyIdIn = (body: string) => /key_[0-9A-Z]{10}/.exec(body)![0];
