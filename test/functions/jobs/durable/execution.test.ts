import { withDurableExecution } from '@aws/durable-execution-sdk-js';
import { LocalDurableTestRunner } from '@aws/durable-execution-sdk-js-testing';
import type { Context } from 'aws-lambda';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { executeJob, type JobEvent } from '../../../../functions/jobs/durable/execution.ts';
import type { Invocation } from '../../../../functions/platform/invoke.ts';
import { JOB } from '../../../readme/tables.ts';
import { recordOf } from '../../accounts.ts';
import { tiny } from '../../tiny-tool.ts';
import { atOnce, type Convert, jobCall, type Local, startLocal } from '../local-service.ts';

const ARN = 'arn:aws:lambda:eu-central-1:111122223333:function:tiny:1';
const never = new AbortController().signal;

let local: Local;
let convert: Convert;
let invoked: Invocation[];
let calls: string[];

beforeAll(() => LocalDurableTestRunner.setupTestEnvironment({ skipTime: true }));
afterAll(() => LocalDurableTestRunner.teardownTestEnvironment());
beforeEach(async () => {
  [convert, invoked, calls] = [atOnce, [], []];
  local = await startLocal({ convert: atOnce });
});
afterEach(() => local.remove());

/** Runs a job as AWS's runner does: every time that nothing can go on, the function is left and called again. */
async function execute(job: { readonly account: string; readonly id: string }) {
  const { dependencies, jobs, guard, webhookSecrets } = local;
  const { limiter, usage } = dependencies;
  const conversion = {
    ...dependencies,
    tools: [{ ...tiny, formats: [...tiny.formats, 'pdf'] as const }],
    limiter: {
      ...limiter,
      admit: (call: Parameters<typeof limiter.admit>[0]) => {
        calls.push('admit');
        return limiter.admit(call);
      },
      release: (...call: Parameters<typeof limiter.release>) => {
        calls.push('release');
        return limiter.release(...call);
      },
    },
    usage: { ...usage, record: async () => void calls.push('usage') },
  };
  const handler = withDurableExecution<JobEvent, void>((event, context) =>
    executeJob(event, context, {
      jobs,
      conversion,
      functionOf: () => ARN,
      isolated: true,
      guard,
      secrets: webhookSecrets,
      tools: [tiny],
      storageAt: () => dependencies.storage,
      log: dependencies.log,
    }),
  );
  const runner = new LocalDurableTestRunner({ handlerFunction: handler }).registerFunction(
    ARN,
    async (invocation: Invocation, _context: Context) => {
      invoked.push(invocation);
      return convert(invocation, never);
    },
  );
  return runner.run({ payload: { account: job.account, job: job.id } });
}

describe('a durable execution', () => {
  it('runs a job, and nothing of it twice, although its code is run again after each pause', async () => {
    const job = await local.jobs.add(jobCall('a'));

    const execution = await execute(job);

    const ended = await local.jobs.get('alice', job.id);
    expect(execution.getStatus()).toBe('SUCCEEDED');
    expect(ended).toMatchObject({ status: 'done', end: { result: { pageCount: 1 } } });
    expect(execution.getInvocations().length).toBeGreaterThan(1);
    // The service counts the execution itself, too.
    expect(execution.getOperations().length + 1).toBe(JOB.plain.operations);
    expect([invoked.length, calls]).toEqual([1, ['admit', 'usage', 'release']]);
    expect(invoked[0]).toMatchObject({ account: 'alice', source: 'https://example.org/a' });
  });

  it('reads its source from a bucket and moves its result to one, each once', async () => {
    const open = async ({ key }: { readonly key: string }) => {
      calls.push('open');
      return `https://bucket.example/${key}?signed`;
    };
    const put = async () => {
      calls.push('put');
      if (calls.filter((call) => call === 'put').length > 1) throw new Error('The result was deleted.');
    };
    const prefixes = { of: async () => [{ url: 's3://files/', access: 'both' }] as const };
    Object.assign(local.dependencies, { buckets: { prefixes, client: async () => ({ open, put }) } });
    const to = { source: 's3://files/a', to: 's3://files/out/', isOnce: true };
    const job = await local.jobs.add(jobCall('a', to));

    const execution = await execute(job);

    expect(await local.jobs.get('alice', job.id)).toMatchObject({ status: 'done' });
    expect(execution.getInvocations().length).toBeGreaterThan(1);
    expect(invoked.map(({ source }) => source)).toEqual(['https://bucket.example/a?signed']);
    expect(calls).toEqual(['admit', 'open', 'put', 'usage', 'release']);
  });

  it('names the bucket that refuses its source', async () => {
    const refused = Object.assign(new Error('Access Denied'), {
      name: 'AccessDenied',
      $metadata: { httpStatusCode: 403 },
    });
    const prefixes = { of: async () => [{ url: 's3://files/', access: 'read' }] as const };
    const client = async () => ({ open: () => Promise.reject(refused), put: async () => {} });
    Object.assign(local.dependencies, { buckets: { prefixes, client } });
    const job = await local.jobs.add(jobCall('a', { source: 's3://files/a' }));

    await execute(job);

    const error = { code: 'SOURCE_STATUS', message: "The bucket 'files' refused the read: AccessDenied." };
    expect(await local.jobs.get('alice', job.id)).toMatchObject({ status: 'failed', end: { error } });
  });

  it('records the error of a document that is damaged', async () => {
    convert = async () => ({ ok: false, error: { code: 'CORRUPT_SOURCE', message: 'It is damaged.' } });
    const job = await local.jobs.add(jobCall('a'));

    await execute(job);

    expect(await local.jobs.get('alice', job.id)).toMatchObject({
      status: 'failed',
      end: { error: { code: 'CORRUPT_SOURCE' } },
    });
  });

  it.each([
    ['throws', () => Promise.reject(new Error('secret path /tmp/x')), 'INTERNAL'],
    [
      'runs out of time',
      () => Promise.reject(new Error('2026 Task timed out after 900.00 seconds')),
      'TIMED_OUT',
    ],
    [
      'returns a foreign object',
      async () => ({ ok: true as const, objectKeys: ['foreign/a.png'] }),
      'INTERNAL',
    ],
  ])('fails the job of a tool that %s', async (_, fails, code) => {
    convert = fails;
    const job = await local.jobs.add(jobCall('a'));

    await execute(job);

    const ended = await local.jobs.get('alice', job.id);
    expect(ended).toMatchObject({ status: 'failed', end: { error: { code } } });
    expect(JSON.stringify(ended)).not.toContain('secret');
  });

  it('waits for a tool that is throttled, and for the limits of the account', async () => {
    local.keys.set('alice', recordOf('alice', { id: 'key_alice', limits: { concurrent: 1 } }));
    const other = await local.dependencies.limiter.admit({
      account: 'alice',
      limits: { concurrent: 1 },
      expires: Date.now() + 60_000,
    });
    setTimeout(() => other.admitted && local.dependencies.limiter.release(other.ticket, 'none'), 300);
    let throttled = 0;
    convert = async (invocation, signal) => {
      throttled += 1;
      if (throttled === 1) throw new Error('TooManyRequestsException: Rate Exceeded.');
      return atOnce(invocation, signal);
    };
    const job = await local.jobs.add(jobCall('a'));

    await execute(job);

    const ended = await local.jobs.get('alice', job.id);
    expect(ended).toMatchObject({ status: 'done' });
    expect(ended!.starts).toBeGreaterThan(2);
    expect(throttled).toBe(2);
  });

  it('converts sources for which other tools are needed, one after the other', async () => {
    convert = async (invocation, signal) => {
      const isFirst = invoked.length === 1;
      if (!isFirst) return atOnce(invocation, signal);
      const unconverted = [{ tool: 'tiny', parameter: 'infile', index: 0 }];
      return { ok: false, error: { code: 'UNSUPPORTED_SOURCE', message: '' }, unconverted };
    };
    const job = await local.jobs.add(jobCall('a'));

    await execute(job);

    expect(await local.jobs.get('alice', job.id)).toMatchObject({ status: 'done' });
    expect(invoked.map(({ format }) => format)).toEqual(['png', 'pdf', 'png']);
    expect(invoked[2]!.source).toMatch(/^https:\/\/docmill\.example\/files\/uploads\//);
    expect(local.removed).toEqual([expect.stringMatching(/^uploads\//)]);
  });

  it('ends without a conversion if the job was canceled', async () => {
    const job = await local.jobs.add(jobCall('a'));
    await local.jobs.cancel(job);

    const execution = await execute(job);

    expect([execution.getStatus(), invoked.length]).toEqual(['SUCCEEDED', 0]);
  });

  it('delivers the webhook, with a pause after each failure, until it gives up', async () => {
    const job = await local.jobs.add(jobCall('a', { job: { webhook: 'https://intern.example/' } }));

    const execution = await execute(job);

    const waits = execution.getOperations().filter((each) => each.getType() === 'WAIT');
    const { delivery } = (await local.jobs.get('alice', job.id))!;
    expect(delivery).toMatchObject({
      state: 'failed',
      attempts: 9,
      last: expect.stringMatching(/public internet/),
    });
    expect(waits).toHaveLength(8);
  });
});
