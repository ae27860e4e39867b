import { SAMPLES } from '../../../infra/local/self-check/samples.ts';
import { pdfOf } from '../../fixtures/pdf.ts';
import {
  keyIdIn,
  ORIGIN,
  openSite,
  type SiteUnderTest,
} from '../../functions/site/accounts/site-under-test.ts';
import { unzip } from '../../helpers/zip.ts';
import { serveJobs } from '../attacks/requests.ts';
import { searchService } from '../checks.ts';
import { withSharedService } from '../neighbor/service.ts';
import type { Reached, Row } from '../row.ts';

interface Attack {
  readonly site: SiteUnderTest;
  /** Counts an attempt, and records it as a failure if it worked. */
  readonly tried: (what: string, failed: boolean) => void;
  /** Emails that were sent. */
  readonly mails: Array<{ readonly to: string; readonly text: string }>;
}

const SCRIPT = '"><script>alert(1)</script>';
/** Requests for links by members, and as many by others. */
const TIMED = 150;

/**
 * Attacks the pages of the site over HTTP, with a database of its own. Routes are those of the site itself, so a new one is attacked
 * without being named here.
 */
export const site: Row = {
  name: 'site',
  title: 'attacks on accounts and the pages for operators',
  figures: 'attempts that worked',
  target: '0',
  async run({ extent }): Promise<Reached> {
    const failures: string[] = [];
    let attempts = 0;
    // The last attack measures time.
    const attacks = extent === 'short' ? ATTACKS.slice(0, -1) : ATTACKS;
    for (const attack of attacks) {
      const mails: Array<{ to: string; text: string }> = [];
      const opened = await openSite({ signUp: 'open', sendMail: async (mail) => void mails.push(mail) });
      const tried = (what: string, worked: boolean) => {
        attempts += 1;
        if (worked) failures.push(`${attack.name}: ${what}`);
      };
      try {
        await attack({ site: opened, tried, mails });
      } finally {
        await opened.close();
      }
    }
    return { figure: `${failures.length} of ${attempts}`, failures };
  },
};

const ATTACKS: ReadonlyArray<(attack: Attack) => Promise<void>> = [
  async function forgedForms({ site, tried }) {
    const { cookie, body } = await site.enter('alice@example.com');
    const operator = await site.enterOperator();
    const token = await site.members.invite('bob@example.com');
    const id = keyIdIn(body);
    const { account } = (await site.stores.keys.get(id))!;
    const before = await stateOf(site);
    const senders: ReadonlyArray<Readonly<Record<string, string>>> = [
      { Origin: 'https://evil.example' },
      { Origin: 'null' },
      { Origin: '' },
      { 'Sec-Fetch-Site': 'cross-site' },
      { 'Sec-Fetch-Site': 'same-site' },
    ];
    for (const path of [
      ...site.forms(),
      '/site/convert',
      '/account/sign-out',
      '/account/link',
      '/account/sign-in',
    ]) {
      for (const target of [id, account]) {
        for (const headers of senders) {
          const form = { token, email: 'alice@example.com', name: 'x', id: target, account };
          const reply = await site.visit(path, { form, headers, cookie: `${cookie}; ${operator}` });
          const other = await site.visit(path, { form, headers, cookie: operator });
          const isRefused = [reply, other].every(
            (each) => each.status === 403 && each.setCookie === undefined,
          );
          tried(`${path} ${JSON.stringify(headers)}`, !isRefused);
        }
      }
    }
    tried('something has changed', before !== (await stateOf(site)));
  },

  async function otherAccounts({ site, tried }) {
    const { body } = await site.enter('alice@example.com');
    const id = keyIdIn(body);
    const { account } = (await site.stores.keys.get(id))!;
    await site.stores.failures.record({
      account,
      time: Date.now(),
      code: 'INTERNAL',
      requestId: 'of-alice',
    });
    const before = await stateOf(site, account);
    for (const path of [...site.pages(), ...site.forms()]) {
      for (const target of [id, account]) {
        const { cookie } = await site.enter('bob@example.com');
        const form = { id: target, account, email: 'alice@example.com', name: 'x', search: 'alice' };
        const replies = [
          await site.visit(`${path}?${new URLSearchParams(form)}`, { cookie }),
          await site.visit(path, { form, cookie }),
          await site.visit(path, { form }),
        ];
        const isSeen = replies.some(
          (each) => /alice@|of-alice/.test(each.body) || each.body.includes(account),
        );
        tried(`${path} shows another account`, isSeen);
        const isForOperator = path.startsWith('/operator');
        const isOpen = replies.slice(0, 2).some(({ status }) => status !== 404);
        if (isForOperator) tried(`${path} without the role`, isOpen);
      }
    }
    tried('another account has changed', before !== (await stateOf(site, account)));
    const { accounts: all } = await site.stores.accounts.search('', 0, 100);
    tried(
      'a role was gained',
      all.some(({ role }) => role !== undefined),
    );
  },

  async function links({ site, tried }) {
    const token = await site.members.invite('alice@example.com');
    const uses = await Promise.all(
      Array.from({ length: 20 }, () => site.visit('/account/sign-in', { form: { token } })),
    );
    tried('a link was used twice', uses.filter(({ cookie }) => cookie).length !== 1);
    const from = (address: string) => ({ 'X-Forwarded-For': address });
    const guesses = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        site.visit('/account/sign-in', {
          form: { token: String(index).padStart(22, 'A') },
          headers: from('203.0.113.1'),
        }),
      ),
    );
    for (const { cookie } of guesses) tried('a link was guessed', cookie !== undefined);
    tried('more than 60 guesses', guesses.filter(({ status }) => status !== 429).length > 60);
    for (const text of ['', 'a', '../x', '%00', `${token}0`, token.toLowerCase()])
      tried(
        `token ${text}`,
        (await site.visit('/account/sign-in', { form: { token: text } })).cookie !== undefined,
      );
  },

  async function fixedSessions({ site, tried }) {
    const fixed = 'docmill=AAAAAAAAAAAAAAAAAAAAAA';
    const token = await site.members.invite('alice@example.com');
    const first = await site.visit('/account/sign-in', { form: { token }, cookie: fixed });
    const again = await site.members.invite('alice@example.com');
    const second = await site.visit('/account/sign-in', { form: { token: again }, cookie: first.cookie });
    const isIn = async (cookie: string | undefined) =>
      (await site.visit('/account', { cookie })).body.includes('alice@');
    tried('a session was set from outside', await isIn(fixed));
    tried('the session before signing in goes on', await isIn(first.cookie));
    tried('the cookie can be read by scripts', !/HttpOnly; SameSite=Lax/.test(second.setCookie ?? ''));
    tried('the new session does not work', !(await isIn(second.cookie)));
    const operator = await site.enterOperator('alice@example.com');
    tried(
      'a session gained a role',
      (await site.visit('/operator', { cookie: second.cookie })).status === 200,
    );
    tried(
      'the operator is not signed in',
      (await site.visit('/operator', { cookie: operator })).status !== 200,
    );
  },

  async function hostsAndRedirects({ site, tried, mails }) {
    const evil = { Host: 'evil.example', Origin: 'http://evil.example', 'X-Forwarded-Host': 'evil.example' };
    await site.visit('/account/link', { form: { email: 'alice@example.com' }, headers: evil });
    tried(
      'an email leads elsewhere',
      mails.length !== 1 || !mails[0]!.text.includes(`${ORIGIN}/account/sign-in?`),
    );
    tried(
      'an email names another host',
      mails.some(({ text }) => text.includes('evil')),
    );
    const query = 'next=//evil.example&return=https://evil.example&url=https://evil.example';
    for (const path of [...site.pages(), ...site.forms(), '/account/sign-out', '/account/sign-in']) {
      const { cookie } = await site.enter('alice@example.com');
      const form = { next: '//evil.example', location: 'https://evil.example' };
      for (const sent of [{ cookie, form }, { cookie }, {}]) {
        const { location = '/' } = await site.visit(`${path}?${query}`, sent);
        tried(`${path} redirects to ${location}`, !/^\/(account|operator)?(\/|\?|#|$)/.test(location));
      }
    }
  },

  async function scripts({ site, tried }) {
    const cookie = await site.enterOperator();
    const { record } = await site.stores.keys.create({ name: SCRIPT, account: `"'${SCRIPT}` });
    const { account } = record;
    await site.stores.accounts.add(account, SCRIPT);
    const failure = {
      account,
      time: Date.now(),
      code: SCRIPT as 'INTERNAL',
      requestId: SCRIPT,
      tool: SCRIPT,
    };
    await site.stores.failures.record(failure);
    const used = { sourceBytes: 1, resultBytes: 1, pages: 1, milliseconds: 1, coldStarts: 0, cached: false };
    await site.stores.usage.record({ ...used, account, tool: SCRIPT, code: SCRIPT as 'OK' });
    const entry = { actor: SCRIPT, action: SCRIPT, subject: SCRIPT, details: SCRIPT, from: SCRIPT };
    await site.stores.audit.append(entry);
    const asked = new URLSearchParams({
      search: SCRIPT,
      id: account,
      token: SCRIPT,
      month: SCRIPT,
      page: SCRIPT,
    });
    for (const path of [...site.pages(), ...site.forms()]) {
      const form = { id: account, account, name: SCRIPT, email: `${SCRIPT}@x`, perMonth: SCRIPT };
      for (const reply of [
        await site.visit(`${path}?${asked}`, { cookie }),
        await site.visit(`${path}?id=${encodeURIComponent(account)}`, { cookie }),
        await site.visit(path, { cookie, form }),
      ]) {
        tried(`${path} contains a script`, reply.body.includes('<script>'));
        const isGuarded = /script-src 'self'.*frame-ancestors 'none'/.test(reply.policy ?? '');
        tried(`${path} can be framed or run scripts`, !isGuarded);
      }
    }
  },

  async function timing({ site, tried, mails }) {
    await site.restart({ signUp: 'invite', sendMail: async (mail) => void mails.push(mail) });
    const emails = Array.from({ length: TIMED }, (_, index) => `member${index}@example.com`);
    for (const email of emails) await site.enter(email);
    const times: Record<'member' | 'other', number[]> = { member: [], other: [] };
    const asked = emails.flatMap((email) => [
      ['member', email] as const,
      ['other', email.replace('member', 'nobody')] as const,
    ]);
    const bodies = new Set<string>();
    for (const [index, [kind, email]] of shuffled(asked).entries()) {
      const headers = { 'X-Forwarded-For': `198.51.100.${index % 250}` };
      const started = process.hrtime.bigint();
      const { body, status } = await site.visit('/account/link', { form: { email }, headers });
      times[kind].push(Number(process.hrtime.bigint() - started));
      bodies.add(`${status} ${body}`);
    }
    tried('the reply tells who is a member', bodies.size !== 1);
    tried(
      'a link was sent to somebody else',
      mails.some(({ to }) => !to.startsWith('member')),
    );
    // The chance that a member's reply takes longer than another's. Its standard deviation is 0.03 if both take the same time.
    const slower = times.member.reduce(
      (sum, own) => sum + times.other.filter((time) => own > time).length,
      0,
    );
    const chance = slower / TIMED ** 2;
    tried(`members can be told by the time: ${chance.toFixed(2)}`, Math.abs(chance - 0.5) > 0.17);
  },
];

/** Returns what an attack could change, as text. */
async function stateOf({ stores }: SiteUnderTest, account?: string): Promise<string> {
  const keys = account === undefined ? await stores.keys.list() : await stores.keys.listOf(account);
  const found =
    account === undefined ? await stores.accounts.search('', 0, 100) : await stores.accounts.get(account);
  return JSON.stringify([keys, found, account === undefined && (await stores.audit.read())]);
}

function shuffled<Value>(values: readonly Value[]): Value[] {
  return values
    .map((value) => [Math.random(), value] as const)
    .sort(([a], [b]) => a - b)
    .map(([, value]) => value);
}

/** Names of files attached to a PDF that would leave the folder into which an archive is unpacked. */
const NAMES = ['../../a.txt', '/etc/a.txt', 'C:\\a.txt', '..\\..\\a.txt', '..', 'a.txt/../../b.txt'];
const PICTURE = `data:image/svg+xml,${encodeURIComponent('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>')}`;

/** Tries to delete and to read a result of another account by its URL and its Idempotency-Key, and to write outside of a folder by the names in an archive. */
export const results: Row = {
  name: 'results',
  title: 'results of others by URL and key; names in archives',
  figures: 'attempts that worked',
  target: '0',
  run: ({ canary }): Promise<Reached> =>
    withSharedService({ sources: [], canary }, async ({ port, attacker, neighbor }) => {
      const failures: string[] = [];
      let attempts = 0;
      const tried = (what: string, worked: boolean) => {
        attempts += 1;
        if (worked) failures.push(what);
      };
      const convert = async ({ ask }: typeof attacker) =>
        (await ask({ app: 'imageproc', infile: PICTURE, outfile: 'a.png' })).results[0]!;
      const [url, own] = [await convert(neighbor), await convert(attacker)];
      const base = `http://127.0.0.1:${port}`;
      const { pathname } = new URL(url);
      const [folder, ownFolder] = [pathname, new URL(own).pathname].map((path) => path.split('/')[2]!);

      const remove = async (path: string, apiKey: string) => {
        const headers = { 'X-Api-Key': apiKey };
        return (await fetch(`${base}${path}`, { method: 'DELETE', headers })).status;
      };
      const spellings = [
        url,
        pathname,
        `http://other.example${pathname}`,
        pathname.replace('a.png', '%61.png'),
        pathname.replace(folder!, folder!.toUpperCase()),
        pathname.replace('/files/', '/files/once/'),
        pathname.replace('/files/', '//files//'),
        `/files/${ownFolder}/../${folder}/a.png`,
        `/files/${ownFolder}/..%2F${folder}%2Fa.png`,
        `/files/${ownFolder}%2F..%2F${folder}/a.png`,
        `/files/${folder}/.`,
        `/files/${folder}`,
      ];
      for (const apiKey of [attacker.apiKey, '']) {
        for (const spelling of spellings) {
          const query = `/api/results?url=${encodeURIComponent(spelling)}`;
          for (const path of [query, spelling.replace(/^https?:\/\/[^/]+/, '')]) {
            await remove(path, apiKey);
            tried(`DELETE ${path}`, (await fetch(url)).status !== 200);
          }
        }
      }
      for (const name of ['expires', 'signature']) {
        for (const value of ['', '9999999999', '0'.repeat(64), new URL(own).searchParams.get(name)!]) {
          const changed = new URL(url);
          changed.searchParams.set(name, value);
          const isOther = changed.href !== new URL(url).href;
          tried(`GET with ${name}=${value}`, isOther && (await fetch(changed)).status === 200);
        }
      }
      const repeat = async (apiKey: string, key: string, outfile = 'a.png') => {
        const query = new URLSearchParams({ app: 'imageproc', infile: PICTURE, outfile });
        const headers = { 'X-Api-Key': apiKey, 'Idempotency-Key': key };
        const reply = await fetch(`${base}/api/?${query}`, { headers });
        return { isFirst: reply.ok && !reply.headers.has('idempotent-replayed'), body: await reply.text() };
      };
      const others = ['k', 'l'];
      const kept = await Promise.all(others.map((key) => repeat(neighbor.apiKey, key)));
      for (const key of [...others, 'K', `${folder}","k`, 'k\\u0000']) {
        // Neither returned nor refused: the key must seem unused, also for another request.
        const { isFirst, body } = await repeat(attacker.apiKey, key, key === 'l' ? 'b.png' : 'a.png');
        tried(`Idempotency-Key ${key}: ${body}`, !isFirst || kept.some((own) => own.body === body));
      }
      if ((await repeat(neighbor.apiKey, 'k')).isFirst) failures.push('The owner cannot repeat it.');
      if ((await remove(pathname, neighbor.apiKey)) !== 204) failures.push('The owner cannot delete it.');

      const pdf = hostilePdf();
      const infile = `data:application/pdf;base64,${pdf.toString('base64')}`;
      const { results: archives, body } = await attacker.ask({
        app: 'pdftools',
        infile,
        outfile: 'a.zip',
        '-attachments': '',
      });
      if (archives.length === 0) failures.push(`No archive: ${body}`);
      for (const archive of archives)
        for (const { name } of await unzip(await attacker.fetchResult(archive)))
          tried(`an entry ${name}`, !/^[^/\\:]+$/.test(name) || /^\.+$/.test(name));
      return { figure: `${failures.length} of ${attempts}`, failures };
    }),
};

/** Returns a PDF with a file attached under each name. */
function hostilePdf(): Buffer {
  const written = NAMES.map((name) => `(${name.replace(/[\\()]/g, '\\$&')})`);
  const first = 4;
  const tree = written.map((name, index) => `${name} ${first + 2 * index} 0 R`).join(' ');
  const files = written.flatMap((name, index) => [
    `<< /Type /Filespec /F ${name} /UF ${name} /EF << /F ${first + 2 * index + 1} 0 R >> >>`,
    `<< /Type /EmbeddedFile /Length 1 >> stream\n${index}\nendstream`,
  ]);
  return pdfOf([
    `<< /Type /Catalog /Pages 2 0 R /Names << /EmbeddedFiles << /Names [${tree}] >> >> >>`,
    '<< /Type /Pages /Kids [3 0 R] /Count 1 >>',
    '<< /Type /Page /Parent 2 0 R /MediaBox [0 0 99 99] >>',
    ...files,
  ]);
}

const TITLE = { name: 'api-key', target: '0' };

/**
 * Comes last: the canary has searched the output of all previous rows. This row adds a service with a key in
 * its environment.
 */
export const apiKey: Row = {
  ...TITLE,
  title: 'API keys in outputs',
  figures:
    'found in logs, responses, metrics, usage, results, the database, files, the keys command, environments and arguments',
  async run({ canary }) {
    const code = await searchService(canary);
    const failures = [...new Set(canary.found)];
    if (code !== 0) failures.push(`the service ended with ${code}`);
    return { figure: `${canary.found.length} in ${canary.inspected} pieces`, failures };
  },
};

/** Comes last too: logs, environments, responses, results, the objects with their headers, and the key table. */
export const emulatorApiKey: Row = {
  ...TITLE,
  title: 'API keys in outputs',
  figures: 'found in logs, responses, objects, headers, the key table, environments and arguments',
  async run({ canary, deployment }) {
    const jobs = await serveJobs(deployment);
    const failures: string[] = [];
    await deployment.withService({ canary, sources: [jobs.port] }, async (service) => {
      for (let index = 0; index < 2 * SAMPLES.length; index++) {
        const { body, results } = await service.ask(jobs.query(index));
        if (results.length !== 1) failures.push(body);
        for (const address of results) await service.fetchResult(address);
      }
    });
    jobs.close();
    failures.push(...new Set(canary.found));
    return { figure: `${canary.found.length} in ${canary.inspected} pieces`, failures };
  },
};
