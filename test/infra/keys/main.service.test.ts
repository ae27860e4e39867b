import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from 'vitest';
import { DiskQuota } from '../../../functions/platform/local/disk-space.ts';
import * as tools from '../../../functions/tools.ts';
import { readCommand } from '../../../infra/keys/commands.ts';
import { openStores } from '../../../infra/keys/stores.ts';
import { openStores as openLocalStores } from '../../../infra/local/stores.ts';
import { startDynalite } from '../../aws-servers/dynalite.ts';
import { COMPILE_CACHE } from '../../helpers/processes.ts';

const SCRIPT = join(import.meta.dirname, '../../../infra/keys/main.ts');

let directory: string;
let settings: Readonly<Record<string, string>>;
let dynalite: Awaited<ReturnType<typeof startDynalite>>;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'keys-command-'));
  dynalite = await startDynalite('keys');
  settings = {
    DATA_DIR: directory,
    AWS_ENDPOINT_URL_DYNAMODB: dynalite.endpoint,
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'test',
    AWS_SECRET_ACCESS_KEY: 'test',
  };
  for (const [name, value] of Object.entries(settings)) vi.stubEnv(name, value);
});
afterAll(async () => {
  vi.unstubAllEnvs();
  await dynalite.close();
  rmSync(directory, { recursive: true });
});

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the command in a process of its own, which takes far longer. */
function runApart(...args: string[]): Promise<Ended> {
  const env = { PATH: '/usr/bin:/bin', ...settings, ...COMPILE_CACHE };
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

/** Runs the command in this process. */
async function run(...args: string[]): Promise<Ended> {
  try {
    const command = readCommand(args, Object.keys(tools));
    if (!command) throw new Error('The help is printed by the script.');
    const stores = await openStores(command);
    const stdout = await command.run(stores);
    stores.close();
    return { code: 0, stdout, stderr: '' };
  } catch (thrown) {
    return { code: 1, stdout: '', stderr: `${(thrown as Error).message}\n` };
  }
}

describe.each([
  { name: 'one machine', store: [] },
  { name: 'DynamoDB', store: ['--table', 'keys'] },
])('the keys command on $name', ({ store }) => {
  const json = async (...args: string[]) => JSON.parse((await run(...args, '--json', ...store)).stdout);

  it('prints a link that signs in', async () => {
    const { url } = await json('invite', 'carol@example.com');

    expect(url).toMatch(/\/account\/sign-in\?token=[\w-]{22}$/);
  });

  it('creates, changes and revokes a key', async () => {
    const created = await json('create', '--name', 'alice', '--expires', '90d', '--per-month', '100');
    const limited = await json('limits', created.id, '--concurrent', '2', '--per-month', 'default');
    const rotated = await json('rotate', created.id, '--overlap', '1h');
    const disabled = await json('disable', created.id);
    const enabled = await json('enable', created.id);
    const list = await json('list');
    await json('limits', rotated.id, '--per-minute', '9', '--concurrent', 'default');
    const shared = await json('list');
    const restricted = await json('limits', created.account, '--tools', 'imageproc', '--expires', '1d');
    const narrow = await json('show', rotated.id);
    const lifted = await json('limits', created.account, '--tools', 'all', '--expires', 'never');
    const revoked = await json('revoke', rotated.id);

    expect(created.apiKey).toMatch(/^[0-9A-Z]{7}(-[0-9A-Z]{7}){3}$/);
    expect(created).toMatchObject({ name: 'alice', limits: { perMonth: 100 } });
    expect(limited.limits).toEqual({ concurrent: 2 });
    expect(rotated).toMatchObject({ account: created.account, limits: { concurrent: 2 } });
    expect([disabled.disabled, enabled.disabled]).toEqual([true, false]);
    expect(enabled.expires).toBeLessThanOrEqual(Date.now() + 3_601_000);
    expect(list.map(({ id }: { id: string }) => id)).toEqual([created.id, rotated.id]);
    expect(shared.map(({ limits }: { limits: object }) => limits)).toEqual([
      { perMinute: 9 },
      { perMinute: 9 },
    ]);
    expect(restricted).toMatchObject({ tools: ['imageproc'], expires: expect.any(Number) });
    expect(narrow).toMatchObject({ tools: ['imageproc'], expires: restricted.expires });
    expect(lifted).toEqual({ account: created.account, limits: { perMinute: 9 } });
    expect(JSON.stringify(list)).not.toContain(created.apiKey);
    expect(revoked).toEqual({ id: rotated.id, revoked: true });
    expect((await run('show', rotated.id, ...store)).stderr).toBe(`There is no key ${rotated.id}.\n`);
  });

  it('disables an account with all of its keys, and logs what it changes', async () => {
    const { id, account } = await json('create', '--name', 'bob');
    await json('disable', account);
    const disabled = await run('show', id, ...store);
    await json('enable', account);
    const enabled = await run('show', id, ...store);
    const missing = await run('disable', 'no-such-account', ...store);
    const log = await json('audit');

    expect([disabled.stdout, enabled.stdout]).toEqual([
      expect.stringMatching(/state +account disabled/),
      expect.stringMatching(/state +valid/),
    ]);
    expect([missing.code, missing.stderr]).toEqual([1, 'There is no account no-such-account.\n']);
    expect(log.slice(0, 4)).toMatchObject([
      { action: 'disable account', subject: 'no-such-account' },
      { action: 'enable account', subject: account, from: 'command line' },
      { action: 'disable account', subject: account },
      { action: 'create key', subject: 'new account', details: 'bob' },
    ]);
  });

  it('takes and shows the email address of an account', async () => {
    const { account } = await json('create', '--name', 'web');
    const email = 'eve@example.com';
    const stores = await openStores(readCommand(['list', ...store], Object.keys(tools))!);
    await stores.accounts.add(account, email);
    await stores.accounts.update(account, { lastUsed: '2026-11-28' });
    const calls = { tool: 'pdftools', code: 'OK', sourceBytes: 1, resultBytes: 1, pages: 1, milliseconds: 1 };
    await stores.usage.record({ ...calls, account, coldStarts: 0, cached: false } as never);
    stores.close();

    const second = await json('create', '--name', 'web', '--account', 'Eve@Example.com');
    const listed = await json('list', email);
    const shown = await json('show', email);
    await json('limits', email, '--per-month', '5');
    await json('disable', email);
    const disabled = await run('show', second.id, ...store);
    await json('enable', email);
    const { days, total } = await json('usage', email);
    const texts = await Promise.all([
      run('list', ...store),
      run('usage', ...store),
      run('show', email, ...store),
      run('audit', ...store),
    ]);
    const unknown = await run('usage', 'nobody@example.com', ...store);

    expect(listed).toMatchObject([
      { name: 'web', email },
      { name: 'web 2', email, id: second.id, account },
    ]);
    expect(shown).toMatchObject({ id: account, email, lastUsed: '2026-11-28', keys: [{}, {}] });
    expect(disabled.stdout).toMatch(
      /email +eve@example\.com\n.*state +account disabled\n.*limits +5\/month/s,
    );
    expect([days, total]).toMatchObject([[{ account, email }], { conversions: 1 }]);
    for (const { stdout } of texts) expect(stdout).toContain(email);
    expect(texts[2]!.stdout).toMatch(/last used +2026-11-28/);
    expect(unknown.stderr).toBe('There is no account nobody@example.com.\n');
  });

  it('refuses to erase a key instead of an account', async () => {
    const { id } = await json('create', '--name', 'dora');

    expect((await run('erase', id, ...store)).stderr).toBe(
      "The command 'erase' needs an account. 'show ID' tells that of a key.\n",
    );
  });

  it('signs the URL of a conversion with a key that can only sign', async () => {
    const { id, kind } = await json('create', '--name', 'site', '--signing');
    const api = await json('create', '--name', 'api');
    const url = 'https://h.example/api/?app=imageproc&infile=https://e.example/a.png?x=1&y=2&outfile=a.jpg';

    const signed = await json('sign', id, url, '--expires', '1h');
    const { searchParams } = new URL(signed.url);
    const ofSample = await json(
      'sign',
      id,
      url.replace(/infile=.*&outfile/, 'infile=sample:picture.png&outfile'),
    );
    const refused = await Promise.all([
      run('sign', api.id, url, ...store),
      run('sign', id, `${url}&apikey=K`, ...store),
      run('sign', id, `${url}&-resize=1x1&-crop=1x1`, ...store),
      run('sign', id, url.replace('outfile', 'outfil'), ...store),
    ]);

    expect(kind).toBe('signing');
    expect(signed.url).toMatch(/^https:\/\/h\.example\/api\/\?_expires=.+&_signature=[0-9a-f]{64}$/);
    expect(searchParams.get('infile')).toBe('https://e.example/a.png?x=1&y=2');
    expect(new URL(ofSample.url).searchParams.get('infile')).toBe('sample:picture.png');
    expect(1000 * Number(searchParams.get('_expires'))).toBe(Date.parse(signed.expires));
    expect(refused.map(({ code }) => code)).toEqual([1, 1, 1, 1]);
    expect(refused.map(({ stderr }) => stderr)).toEqual([
      expect.stringContaining('There is no valid signing key'),
      expect.stringContaining("Leave out the parameter 'apikey'"),
      expect.stringContaining('_args'),
      expect.stringContaining("'outfile' is missing"),
    ]);
  });

  it('imports a key by its hash, once', async () => {
    const hash = createHash('sha256').update(`old key ${store.length}`).digest('hex');
    const imported = await json('import', '--hash', hash, '--name', 'old', '--per-month', '7');

    expect(imported).toMatchObject({ name: 'old', limits: { perMonth: 7 } });
    expect(imported).not.toHaveProperty('apiKey');
    expect(await run('import', '--hash', hash, '--name', 'twice', ...store)).toMatchObject({
      code: 1,
      stderr: `This key already exists: ${imported.id}.\n`,
    });
  });

  it('prints usage as text, JSON and CSV', async () => {
    expect((await run('usage', ...store)).stdout).toMatch(/^account +email +day +tool/);
    expect(await json('usage', '--month', '2020-01')).toMatchObject({ month: '2020-01', days: [] });
    expect((await run('usage', '--csv', ...store)).stdout).toMatch(
      /^account,day,tool,conversions,.*,email\r\n/,
    );
  });
});

it('uses the table that its command line names', async () => {
  const { id } = JSON.parse((await run('create', '--name', 'x', '--json', '--table', 'keys')).stdout);

  expect((await runApart('show', id, '--table', 'keys')).stdout).toContain(id);
  expect((await run('show', id)).stdout).toBe('');
});

it('does not take a missing database for one without keys', async () => {
  const empty = mkdtempSync(join(directory, 'empty-'));
  vi.stubEnv('DATA_DIR', empty);

  await expect(openStores(readCommand(['list'], Object.keys(tools))!)).rejects.toThrow(
    `There is no database in ${empty}. Set DATA_DIR to the server's data directory.`,
  );
  vi.stubEnv('DATA_DIR', directory);
  expect(readdirSync(empty)).toEqual([]);
});

it('adds a key only to an account that exists', async () => {
  const { account } = JSON.parse((await run('create', '--name', 'one', '--json')).stdout);

  const further = JSON.parse((await run('create', '--name', 'two', '--account', account, '--json')).stdout);
  const missing = await run('create', '--name', 'three', '--account', 'nobody-at-all');

  expect(further.account).toBe(account);
  expect(missing).toMatchObject({
    code: 1,
    stderr:
      'There is no account nobody-at-all. A person has one after using an invitation. Leave out --account to create another.\n',
  });
});

it('does not rotate a key that has expired', async () => {
  vi.useFakeTimers({ toFake: ['Date'] });
  onTestFinished(() => void vi.useRealTimers());
  const { id } = JSON.parse((await run('create', '--name', 'old', '--expires', '1s', '--json')).stdout);
  vi.advanceTimersByTime(1100);

  const { code, stdout, stderr } = await run('rotate', id);

  expect([code, stdout]).toEqual([1, '']);
  expect(stderr).toBe(`There is no valid key ${id}. Create a new one.\n`);
});

it('prints a key for another process, and names a mistake in one line', async () => {
  const { id } = JSON.parse((await run('create', '--name', 'x', '--json')).stdout);

  const [shown, unknown, mistaken] = await Promise.all(
    [['show', id, '--json'], ['show', 'key_0000000000'], ['frobnicate']].map((args) => runApart(...args)),
  );

  expect(JSON.parse(shown!.stdout)).toMatchObject({ id, name: 'x' });
  expect(unknown).toEqual({ code: 1, stdout: '', stderr: 'There is no key key_0000000000.\n' });
  expect(mistaken).toEqual({
    code: 2,
    stdout: '',
    stderr: "Unknown command 'frobnicate'.\nRun 'npm run keys -- help' for all commands.\n",
  });
});

it('erases an account on one machine with its files, and says what remains', async () => {
  const { id, account } = JSON.parse((await run('create', '--name', 'erin', '--json')).stdout);
  const stores = openLocalStores(directory);
  const results = join(directory, 'results');
  mkdirSync(results, { recursive: true });
  for (const [owner, name] of [
    [account, 'own.pdf'],
    ['another', 'other.pdf'],
  ]) {
    await new DiskQuota(stores.results, 0).add(owner!, name!, 10);
    writeFileSync(join(results, name!), 'content');
  }
  stores.close();

  const { code, stdout } = await run('erase', account);

  expect([code, readdirSync(results)]).toEqual([0, ['other.pdf']]);
  expect(stdout).toMatch(/is erased:\n.*keys +1\n.*These remain:\n.*backups, until they expire/s);
  expect((await run('show', id)).stderr).toBe(`There is no key ${id}.\n`);
  expect((await run('audit')).stdout).toContain('erase account');
});
