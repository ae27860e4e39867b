import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { createApiKey } from '../../functions/platform/keys.ts';
import { disc } from '../fixtures/image.ts';
import { randomNumbers } from '../helpers/random.ts';
import { type OwnService, startOwnService } from '../lab/service.ts';
import { serveSources } from '../lab/sources.ts';

const [JOBS, ACCOUNTS, KILLS] = [2000, 4, 20];
const random = randomNumbers(1);

interface JobJson {
  readonly id: string;
  readonly status: string;
  readonly started: string;
  readonly ended: string;
  readonly outputs?: readonly { readonly url: string }[];
}

it(`ends each of ${JOBS} jobs once, although the server is killed ${KILLS} times`, async () => {
  const keys = Array.from({ length: ACCOUNTS }, () => createApiKey());
  const directory = await mkdtemp(join(tmpdir(), 'killed-'));
  /** How often each webhook was received, by its ID. */
  const received = new Map<string, string[]>();
  const sources = await serveSources({
    'a.png': await disc(64),
    hook: async (request, response) => {
      const { data } = JSON.parse(await text(request));
      const id = String(request.headers['webhook-id']);
      received.set(data.id, [...(received.get(data.id) ?? []), id]);
      response.end();
    },
  });
  const environment = {
    TEST_KEYS: keys.join(','),
    ALLOW_SOURCES: sources.host,
    LIMIT_PER_MINUTE: '0',
    MAX_QUEUED_JOBS: '10000',
  };
  const start = () => startOwnService({ environment, directory, detached: true });
  let service: OwnService = await start();
  const parameters = { app: 'imageproc', infile: sources.urlOf('a.png'), outfile: 'b.jpg' };

  const ids: string[][] = keys.map(() => []);
  let accepted = 0;
  const submit = async (account: number, number: number) => {
    const body = new URLSearchParams({ ...parameters, _webhook: sources.urlOf('hook') });
    const headers = { 'x-api-key': keys[account]!, 'idempotency-key': `${number}` };
    for (;;) {
      const reply = await fetch(`${service.base}/api/jobs`, { method: 'POST', body, headers }).catch(
        () => undefined,
      );
      const url = reply?.status === 202 ? reply.headers.get('location')! : undefined;
      if (url) {
        accepted += 1;
        return void ids[account]!.push(url.split('/').at(-1)!);
      }
      await setTimeout(100);
    }
  };
  const kill = async () => {
    const exit = once(service.process, 'exit');
    process.kill(-service.process.pid!, 'SIGKILL');
    await exit;
    service = await start();
  };
  const submitting = Promise.all(
    keys.map(async (_, account) => {
      for (let number = 0; number < JOBS / ACCOUNTS; number += 1) await submit(account, number);
    }),
  );
  for (let count = 0; count < KILLS; count += 1) {
    await setTimeout(500 + 2500 * random());
    await kill();
  }
  await submitting;

  const ended: JobJson[][] = [];
  for (const [account, own] of ids.entries()) {
    const headers = { 'x-api-key': keys[account]! };
    ended[account] = [];
    for (const id of own)
      for (;;) {
        const job = (await (
          await fetch(`${service.base}/api/jobs/${id}?wait=30`, { headers })
        ).json()) as JobJson;
        if (job.status === 'queued' || job.status === 'running') continue;
        ended[account].push(job);
        break;
      }
  }
  await expect.poll(() => received.size, { timeout: 120_000 }).toBe(JOBS);

  const all = ended.flat();
  expect(accepted).toBe(JOBS);
  expect(new Set(all.map(({ id }) => id)).size).toBe(JOBS);
  expect(all.filter(({ status }) => status !== 'done')).toEqual([]);
  expect([...received.values()].filter((own) => new Set(own).size > 1)).toEqual([]);
  for (const [account, jobs] of ended.entries()) {
    const { status } = await fetch(jobs.at(-1)!.outputs![0]!.url);
    expect([account, status]).toEqual([account, 200]);
  }
  const repeated = [...received.values()].filter((own) => own.length > 1).length;
  process.stdout.write(`${repeated} webhooks were delivered more than once, under the same ID.\n`);
  await service.close();
  sources.close();
  await rm(directory, { recursive: true, force: true });
}, 900_000);
