import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { DeleteTableCommand } from '@aws-sdk/client-dynamodb';
import { describe, expect, it, onTestFinished } from 'vitest';
import { parseSettings } from '../../infra/aws/settings.ts';
import { isBreached, isRaised, metricsOf, PROVOCATIONS, readAlarms } from '../helpers/alarms.ts';
import { publicAddress } from '../lambda-emulator/network.ts';
import { useEmulator } from './use-emulator.ts';

const settings = parseSettings({});

const { alarms, chosen } = readAlarms();

/** Returns the lines that functions have logged since the last call. */
function recorder() {
  const lines: string[] = [];
  return {
    // Functions log JSON; Node and Chromium also write other lines.
    log: (line: string) => lines.push(...(/^\w+: (\{.*\})$/.exec(line)?.slice(1) ?? [])),
    take: () => lines.splice(0),
  };
}

function raised(lines: readonly string[]): string[] {
  return Object.keys(PROVOCATIONS)
    .filter((name) => isBreached(alarms.get(name)!, lines))
    .sort();
}

describe('the log lines of deployed functions raise the alarms', () => {
  const { log, take } = recorder();
  const used = useEmulator({ settings: { ...settings, conversionLimits: chosen.conversionLimits }, log });

  it('when a conversion reaches its deadline, and when the key table is missing', async () => {
    const { ask, urlOf, emulator } = used();
    const slow = await ask({
      app: 'html2image',
      infile: urlOf('a.html'),
      outfile: 'a.png',
      '--wait-for-selector': '#absent',
    });
    const ofSlow = take();
    await emulator.table.client.send(new DeleteTableCommand({ TableName: 'keys' }));
    const keyless = await ask({ app: 'imageproc', infile: urlOf('a.png'), outfile: 'a.jpg' });
    const ofKeyless = take();

    expect(slow.body).toMatch(/\(TIMED_OUT\)$/);
    expect(raised(ofSlow)).toContain('SlowConversions');
    expect(keyless.status).toBe(500);
    expect(raised(ofKeyless)).toEqual(['InternalErrors', 'KeyTableErrors']);
  });
});

/** The alarms on metrics of Lambda and API Gateway. */
const OF_AWS = [...alarms].filter(([, alarm]) =>
  metricsOf(alarm).every(({ Namespace }) => Namespace?.startsWith('AWS/')),
);

/** Moves each batch of lines to a five-minute period of its own, one after the other. */
function consecutive(...batches: ReadonlyArray<readonly string[]>): string[] {
  return batches.flatMap((lines, period) =>
    lines.flatMap((text) => {
      const { _aws, ...line } = JSON.parse(text);
      return _aws ? JSON.stringify({ ...line, _aws: { ..._aws, Timestamp: 300_000 * period } }) : [];
    }),
  );
}

function raisedOfAws(lines: readonly string[]): string[] {
  return OF_AWS.filter(([, alarm]) => isRaised(alarm, lines)).map(([name]) => name);
}

/** A server of sources that does not respond, and closes its connections when `release` is called. */
async function startHolding() {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    base: publicAddress((server.address() as AddressInfo).port),
    release: () => {
      server.closeAllConnections();
      server.close();
    },
  };
}

describe('the metrics of Lambda and API Gateway raise the alarms', () => {
  const { log, take } = recorder();
  const used = useEmulator({
    quota: settings.accountConcurrency,
    // More than the calls below, so that it is Lambda that refuses them.
    settings: { ...settings, throttle: { rate: 100, burst: 100 } },
    log,
  });

  it('not after a conversion and a mistake of the caller', async () => {
    const { ask, urlOf } = used();

    const converted = await ask({ app: 'imageproc', infile: urlOf('a.png'), outfile: 'a.jpg' });
    const mistaken = await ask({ app: 'imageproc', infile: urlOf('a.png'), outfile: 'a.mp3' });
    const lines = take();

    expect([converted.status, mistaken.status]).toEqual([200, 400]);
    for (const name of ['5XXError', 'ConcurrentExecutions'])
      expect(lines.filter((line) => name in JSON.parse(line)).length, name).toBeGreaterThan(1);
    expect(raisedOfAws(consecutive(lines, lines, lines))).toEqual([]);
  });

  it('when conversions use the whole concurrency of the account, and when a function is throttled', async () => {
    const { ask, emulator } = used();
    const { base, release } = await startHolding();
    onTestFinished(release);
    const conversions = Promise.allSettled(
      Array.from({ length: 5 }, (_, call) =>
        ask({ app: 'imageproc', infile: `${base}/${call}.png`, outfile: 'a.jpg' }),
      ),
    );
    // Each conversion takes two executions, which wait for the source.
    await expect.poll(() => emulator.account.most, { timeout: 60_000 }).toBe(10);
    const ofBusy = take();
    const refused = await ask({ app: 'imageproc', infile: `${base}/refused.png`, outfile: 'a.jpg' });
    const ofRefused = take();
    const ofFunctions = new Map<string, string[]>();
    for (const [name, pool] of emulator.functions) {
      const { isolated } = emulator.definitions.get(name)!;
      await expect(pool.invoke({}, isolated ? 'account' : undefined)).rejects.toThrow('TooMany');
      ofFunctions.set(name, take());
    }
    release();
    await conversions;

    expect(raisedOfAws(consecutive(ofBusy))).toEqual(['Concurrency']);
    expect(refused.status).toBe(503);
    // API Gateway counts its own response as `4XXError`, because the stack modifies its status.
    expect(raisedOfAws(consecutive(ofRefused, ofRefused, ofRefused))).toEqual(['Throttles']);
    for (const [name, lines] of ofFunctions)
      expect(raisedOfAws(consecutive(lines)), name).toEqual(['Throttles']);
    expectToDependOnDeclaration('Concurrency', consecutive(ofBusy));
    expectToDependOnDeclaration('Throttles', consecutive(ofRefused));
  });

  it('when the gateway refuses requests that never reach the router', async () => {
    const { ask, urlOf } = used();
    take();
    const query = { app: 'imageproc', infile: urlOf('a.png'), outfile: 'a.mp3' };
    for (let round = 0; round < 3; round += 1)
      await Promise.all(Array.from({ length: 100 }, () => ask(query)));
    const lines = take();

    expect(raisedOfAws(consecutive(lines))).toContain('RefusedByGateway');
  });

  it('when calls fail for 15 minutes', async () => {
    const { ask, urlOf, emulator } = used();
    take();
    await emulator.table.client.send(new DeleteTableCommand({ TableName: 'keys' }));
    const storms: string[][] = [];
    for (let period = 0; period < 3; period++) {
      const { status } = await ask({ app: 'imageproc', infile: urlOf('a.png'), outfile: 'a.jpg' });
      expect(status).toBe(500);
      storms.push(take());
    }

    const [first, second, third] = storms as [string[], string[], string[]];
    expect(raisedOfAws(consecutive(first, second))).toEqual([]);
    expect(raisedOfAws(consecutive(first, [], third))).toEqual([]);
    expect(raisedOfAws(consecutive(first, second, third))).toEqual(['ServerErrors']);
    expectToDependOnDeclaration('ServerErrors', consecutive(first, second, third));
  });
});

describe('the metrics of Lambda for a router that ends on every call', () => {
  const { log, take } = recorder();
  // Not JSON, so that its first lines throw.
  const used = useEmulator({ variables: { router: { ENVIRONMENT: '{' } }, log });

  it('raise their own alarm, because API Gateway counts the calls as mistakes of the caller', async () => {
    const { ask, urlOf } = used();
    const storms: string[][] = [];
    for (let period = 0; period < 3; period++) {
      const { status, headers } = await ask({ app: 'imageproc', infile: urlOf('a.png'), outfile: 'a.jpg' });
      expect([status, headers.get('x-error-code')]).toEqual([500, 'INTERNAL']);
      storms.push(take());
    }

    expect(raised(storms.flat())).toEqual([]);
    expect(raisedOfAws(consecutive(...storms))).toEqual(['RouterErrors']);
    expectToDependOnDeclaration('RouterErrors', consecutive(...storms));
  });
});

/** Checks that an alarm is raised by these lines, and not if it reads another namespace, metric or dimension. */
function expectToDependOnDeclaration(name: string, lines: readonly string[]): void {
  const alarm = alarms.get(name)!;
  const names = metricsOf(alarm).flatMap(({ Namespace, MetricName, Dimensions = [] }) => [
    ...[Namespace, MetricName],
    ...Dimensions.map(({ Name }) => Name),
  ]);

  expect(isRaised(alarm, lines)).toBe(true);
  for (const right of new Set(names)) {
    const broken = JSON.parse(JSON.stringify(alarm).replaceAll(`"${right}"`, '"Other"'));
    expect(isRaised(broken, lines), right).toBe(false);
  }
}
