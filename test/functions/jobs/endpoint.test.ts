import { afterEach, describe, expect, it, vi } from 'vitest';
import { atOnce, controlled, type Local, ORIGIN, startLocal } from './local-service.ts';

let local: Local;
afterEach(() => local.remove());

const QUERY = 'app=tiny&infile=https://example.org/a&outfile=b.png';
const JSON_ONLY = { headers: { accept: 'application/json' } };

describe('a request with _async=1', () => {
  it('responds with the URL of the job, as text or JSON', async () => {
    local = await startLocal({ convert: atOnce });

    const text = await local.send(`${QUERY}&_async=1`);
    const json = await local.send(`${QUERY}&_async=1`, JSON_ONLY);

    expect([text.status, json.status]).toEqual([202, 202]);
    expect(text.text).toBe(`[Job] ${text.headers.Location}<br>`);
    expect(text.headers).toMatchObject({ 'Retry-After': '1' });
    expect(json.json).toMatchObject({ url: json.headers.Location, app: 'tiny' });
    expect(json.headers.Location).toMatch(/^https:\/\/docmill\.example\/api\/jobs\/job_2_[0-9a-f]{16}$/);
  });

  it('is the same as a POST to /api/jobs and as a webhook', async () => {
    local = await startLocal({ convert: atOnce });
    const body = QUERY;
    const headers = { 'content-type': 'application/x-www-form-urlencoded' };

    const posted = await local.send('', { path: '/api/jobs', body, headers });
    const object = await local.send('', {
      path: '/api/jobs',
      body: JSON.stringify(Object.fromEntries(new URLSearchParams(QUERY))),
      headers: { 'content-type': 'application/json' },
    });
    const told = await local.send(`${QUERY}&_webhook=http://receiver.example/`);

    expect([posted.status, object.status, told.status]).toEqual([202, 202, 202]);
  });

  it.each([
    ['every mistake', 'app=tiny&outfile=b.pdf&_async=1', 400, /infile.*pdf/],
    ['a value that is no switch', `${QUERY}&_async=yes`, 400, /'_async' must be 0 or 1, got 'yes'/],
    ['a way to respond', `${QUERY}&_async=1&_response=file`, 400, /_response=file/],
    [
      'a webhook that is not sent over TLS',
      `${QUERY}&_webhook=http://example.org/`,
      400,
      /must be an https URL/,
    ],
    [
      'a webhook in a private network',
      `${QUERY}&_webhook=https://intern.example/`,
      403,
      /'_webhook'.*not found/,
    ],
    ['a webhook with a user name', `${QUERY}&_webhook=https://a:b@example.org/`, 400, /without a user name/],
    [
      'an upload that does not exist',
      `app=tiny&infile=upload:${'0'.repeat(32)}/a&outfile=b.png&_async=1`,
      424,
      /upload/,
    ],
  ])('reports %s before a job exists', async (_, query, status, message) => {
    local = await startLocal({ convert: atOnce });

    const reply = await local.send(query);

    expect(reply).toMatchObject({ status, text: expect.stringMatching(message) });
    expect((await local.send('', { path: '/api/jobs' })).json.jobs).toEqual([]);
  });

  it('does not work in a signed link', async () => {
    local = await startLocal({ convert: atOnce });

    const reply = await local.send(`${QUERY}&_async=1&_key=key_A&_expires=1&_signature=00`);

    expect(reply.status).toBe(403);
  });

  it('returns the same job for the same Idempotency-Key, and never for a call that waits', async () => {
    local = await startLocal({ convert: atOnce });
    const headers = { 'idempotency-key': 'k' };

    const [first, second] = [
      await local.send(`${QUERY}&_async=1`, { headers }),
      await local.send(`${QUERY}&_async=1`, { headers }),
    ];
    const other = await local.send(QUERY, { headers });
    const stranger = await local.send(`${QUERY}&_async=1`, { headers, account: 'bob' });

    expect(second.headers.Location).toBe(first.headers.Location);
    expect(await local.jobs.reserve('alice')).toMatch(/^job_2_/);
    expect([first, second].map(({ headers: sent }) => sent['Idempotent-Replayed'])).toEqual([
      undefined,
      'true',
    ]);
    expect(other.headers['X-Error-Code']).toBe('IDEMPOTENCY_KEY_REUSED');
    expect(stranger.headers.Location).not.toBe(first.headers.Location);
  });

  it('does not count as a call in progress while its job is running', async () => {
    const { convert, started } = controlled();
    local = await startLocal({ convert, limits: { concurrent: 1 } });
    await local.submit('a');
    await vi.waitFor(() => expect(started).toEqual(['a']));

    const reply = await local.send(`${QUERY}&_async=1`);

    expect(reply.status).toBe(202);
    expect((await local.send(QUERY)).headers['X-Error-Code']).toBe('RATE_LIMITED');
  });

  it('keeps the files that were sent until the job has ended', async () => {
    const { convert, started, finish } = controlled();
    local = await startLocal({ convert });
    await local.send('app=tiny&outfile=b.png&_async=1', {
      body: 'bytes',
      headers: { 'content-type': 'image/png' },
    });
    await vi.waitFor(() => expect(started).toHaveLength(1));
    const during = [local.uploads.size, local.kept.size];

    finish(started[0]!);

    await vi.waitFor(() => expect(local.uploads.size).toBe(0));
    expect(during).toEqual([1, 1]);
    expect(Math.min(...local.kept.values())).toBeGreaterThan(Date.now() + 80_000_000);
  });

  it('refuses more queued jobs than an account may have', async () => {
    local = await startLocal({ convert: controlled().convert, total: 1, maxQueued: 2 });
    for (const name of ['a', 'b', 'c']) await local.submit(name);

    const reply = await local.send(`${QUERY}&_async=1`);

    expect(reply).toMatchObject({ status: 429, text: expect.stringContaining('may have 2 jobs queued') });
    expect(await local.submit('d', 'bob')).toMatch(/^job_/);
  });
});

describe('/api/jobs/ID', () => {
  it('tells the place of a queued job, and what became of it', async () => {
    const { convert, started, finish } = controlled();
    local = await startLocal({ convert, total: 1 });
    const [first, second, third] = [
      await local.submit('a'),
      await local.submit('b'),
      await local.submit('c'),
    ];
    await vi.waitFor(() => expect(started).toEqual(['a']));
    const queued = [await local.get(second), await local.get(third)];
    const done = local.get(first, 'alice', 'wait=10');

    finish('a');
    finish(await vi.waitUntil(() => started[1]), {
      ok: false,
      error: { code: 'CORRUPT_SOURCE', message: 'It is damaged.' },
    });

    expect(queued).toMatchObject([
      { status: 'queued', place: 1 },
      { status: 'queued', place: 2 },
    ]);
    expect(await done).toMatchObject({
      status: 'done',
      outputs: [{ url: expect.stringMatching(/^https:.*a\.png$/), name: 'a.png', contentType: 'image/png' }],
    });
    await vi.waitFor(async () =>
      expect(await local.get(second)).toMatchObject({
        status: 'failed',
        error: { code: 'CORRUPT_SOURCE', detail: 'It is damaged.' },
      }),
    );
  });

  it('forgets the source and the options of a job that has ended', async () => {
    local = await startLocal({ convert: atOnce });
    const id = await local.submit('secret');
    await vi.waitFor(async () => expect(await local.get(id)).toMatchObject({ status: 'done' }));

    const job = await local.jobs.get('alice', id);

    expect(JSON.stringify(job)).not.toMatch(/example\.org|"options":\{"/);
  });

  it('cancels a queued job, and a running one with its engine', async () => {
    const { convert, started, finish } = controlled();
    local = await startLocal({ convert, total: 1 });
    const [running, queued, last] = [
      await local.submit('a'),
      await local.submit('b'),
      await local.submit('c'),
    ];
    await vi.waitFor(() => expect(started).toEqual(['a']));

    const replies = [
      await local.send('', { path: `/api/jobs/${queued}`, method: 'DELETE' }),
      await local.send('', { path: `/api/jobs/${running}`, method: 'DELETE' }),
    ];

    expect(replies.map(({ json }) => json.status)).toEqual(['canceled', 'canceled']);
    await vi.waitFor(() => expect(started).toEqual(['a', 'c']));
    finish('c');
    await vi.waitFor(async () => expect(await local.get(last)).toMatchObject({ status: 'done' }));
    expect(await local.get(running)).toMatchObject({ status: 'canceled' });
    const again = await local.send('', { path: `/api/jobs/${last}`, method: 'DELETE' });
    expect(again.json.status).toBe('done');
  });

  it('deletes the result of a job that was canceled in the last moment', async () => {
    const { convert, started, finish } = controlled();
    local = await startLocal({
      // An engine that cannot be stopped any more.
      convert: (invocation) => convert(invocation, new AbortController().signal),
    });
    const id = await local.submit('a');
    await vi.waitFor(() => expect(started).toEqual(['a']));

    await local.jobs.cancel((await local.jobs.get('alice', id))!);
    finish('a');

    await vi.waitFor(() => expect(local.removed).toEqual([expect.stringMatching(/a\.png$/)]));
    expect(await local.get(id)).toMatchObject({ status: 'canceled' });
  });

  it('delivers its webhook again, once it has ended', async () => {
    const { convert, started, finish } = controlled();
    local = await startLocal({ convert });
    const id = await local.submit('a', 'alice', '&_webhook=http://receiver.example/');
    await vi.waitFor(() => expect(started).toEqual(['a']));
    const path = `/api/jobs/${id}/webhook`;
    const early = await local.send('', { path, method: 'POST' });
    finish('a');
    await vi.waitFor(async () =>
      expect((await local.jobs.get('alice', id))!.delivery).toMatchObject({
        attempts: 1,
        last: 'ECONNREFUSED',
      }),
    );

    const { status } = await local.send('', { path, method: 'POST' });

    expect([early.status, status]).toEqual([400, 204]);
    const attempts = () => local.logged.filter(({ event }) => event === 'webhook not delivered');
    await vi.waitFor(() => expect(attempts()).toHaveLength(2), 3000);
    local.keys.set('alice', { ...local.keys.get('alice')!, limits: { perMinute: 0 } });
    expect((await local.send('', { path, method: 'POST' })).status).toBe(429);
  });

  it('is not waited for by more requests than an account may have', async () => {
    const { convert, started } = controlled();
    local = await startLocal({ convert, maxWaiting: 1 });
    const [path, other] = [await local.submit('a'), await local.submit('b', 'bob')].map(
      (id) => `/api/jobs/${id}`,
    );
    await vi.waitFor(() => expect(started).toHaveLength(2));

    const waiting = local.send('wait=60', { path: path! });
    const refused = await local.send('wait=60', { path: path! });
    const others = local.send('wait=60', { path: other!, account: 'bob' });
    await local.queue.close();

    expect(refused).toMatchObject({ status: 429, text: expect.stringContaining('with 1 requests') });
    expect([(await waiting).status, (await others).status]).toEqual([200, 200]);
  });

  it('exists only for its own account', async () => {
    local = await startLocal({ convert: atOnce });
    const id = await local.submit('a');

    const replies = await Promise.all([
      local.send('', { path: `/api/jobs/${id}`, account: 'bob' }),
      local.send('', { path: `/api/jobs/${id}`, account: 'bob', method: 'DELETE' }),
      local.send('', { path: `/api/jobs/${id.replace(/.$/, 'x')}` }),
      local.send('', { path: '/api/jobs/job_1' }),
    ]);

    expect(replies.map(({ status }) => status)).toEqual([404, 404, 404, 404]);
    expect((await local.send('', { path: '/api/jobs', account: 'bob' })).json).toEqual({ jobs: [] });
  });

  it('lists the newest first, in pages', async () => {
    local = await startLocal({ convert: atOnce });
    const ids: string[] = [];
    for (const name of 'abcde') ids.unshift(await local.submit(name));

    const pages: string[][] = [];
    for (let query: string | undefined = 'limit=2'; query !== undefined; ) {
      const { json } = await local.send(query, { path: '/api/jobs' });
      pages.push(json.jobs.map(({ id }: { id: string }) => id));
      query = json.next?.replace(`${ORIGIN}/api/jobs?`, '');
    }

    expect(pages).toEqual([ids.slice(0, 2), ids.slice(2, 4), ids.slice(4)]);
  });

  it('lists a job that many requests without a new one have followed', async () => {
    local = await startLocal({ convert: atOnce });
    const id = await local.submit('a');
    for (let ago = 0; ago < 30; ago += 1) await local.jobs.reserve('alice');

    const { json } = await local.send('limit=1', { path: '/api/jobs' });

    expect(json.jobs).toMatchObject([{ id }]);
  });

  it.each(['wait=61', 'wait=-1', 'wait=a'])('refuses %s', async (query) => {
    local = await startLocal({ convert: atOnce });
    const id = await local.submit('a');

    const { status, text } = await local.send(query, { path: `/api/jobs/${id}` });

    expect([status, text]).toEqual([400, expect.stringContaining("'wait' must be an integer from 0 to 60")]);
  });
});
