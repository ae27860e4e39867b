import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkRegion, parseSettings, readSettings } from '../../../infra/aws/settings.ts';

const NETWORK = { subnetIds: ['subnet-01234567'], securityGroupIds: ['sg-01234567'] };

it.each(['ap-southeast-6', 'us-gov-west-1', 'cn-north-1'])('need tenant isolation off in %s', (region) => {
  expect(() => checkRegion(parseSettings({}), region)).toThrow(`no tenant isolation in ${region}. Set`);
  const shared = parseSettings({ tenantIsolation: false, acceptSharedTenants: true });
  expect(() => checkRegion(shared, region)).not.toThrow();
});

it.each(['us-east-1', 'eu-central-1', 'ap-southeast-2', undefined])('take the defaults in %s', (region) => {
  expect(() => checkRegion(parseSettings({}), region)).not.toThrow();
});

it.each([
  ...['us-gov-west-1', 'cn-north-1'].map(
    (region) =>
      [
        { front: { timeout: 300 } },
        region,
        `There is no CloudFront with functions in ${region}. Remove front`,
      ] as const,
  ),
  [
    { monthlyBudget: 1, alarmEmail: 'a@example.com' },
    'us-gov-west-1',
    'There are no budgets in us-gov-west-1. Remove monthlyBudget',
  ],
  [
    { site: { cognito: { domain: 'x' } } },
    'cn-north-1',
    'Cognito offers no user pools in cn-north-1. Remove site.cognito',
  ],
] as Array<[object, string, string]>)(
  'are refused for what a region lacks: %j in %s',
  (own, region, message) => {
    const settings = parseSettings({ tenantIsolation: false, acceptSharedTenants: true, ...own });

    expect(() => checkRegion(settings, region)).toThrow(message);
    expect(() => checkRegion(settings, 'eu-central-1')).not.toThrow();
  },
);

describe('the settings', () => {
  it('have a default each', () => {
    expect(parseSettings({})).toMatchObject({
      name: 'docmill',
      conversionLimits: { seconds: 240 },
      demo: null,
      provisioned: {},
    });
  });

  it('may have no limits of keys and no demo mode', () => {
    const { rateLimits, demo } = parseSettings({ rateLimits: { perMonth: 0 }, demo: null });

    expect(rateLimits).toEqual({ perMinute: 3000, perMonth: 0, concurrent: 5 });
    expect(demo).toBeNull();
  });

  it.each([
    [{ rateLimits: { perMinute: -1 } }, 'rateLimits.perMinute: Too small'],
    [{ rateLimits: { perMonth: 1.5 } }, 'rateLimits.perMonth: Invalid input: expected int'],
    [{ rateLimits: { concurrent: 1e10 } }, 'rateLimits.concurrent: Too big'],
    [{ rateLimits: { perMonth: '100' } }, 'rateLimits.perMonth: Invalid input: expected number'],
    [{ demo: { perAddress: null } }, 'demo.perAddress: Invalid input'],
    [{ conversionLimits: { sourceMegabytes: 0.5 } }, 'conversionLimits.sourceMegabytes: Invalid input'],
    [
      { conversionLimits: { resultMegabytes: 5000 } },
      'conversionLimits.resultMegabytes: Too big: expected number to be <=2000',
    ],
    [
      { conversionLimits: { seconds: 241 } },
      'conversionLimits.seconds: Too big: expected number to be <=240',
    ],
    [{ urlLifetime: 21_601 }, 'urlLifetime: Too big: expected number to be <=21600'],
    [{ accountConcurrency: 1 }, 'accountConcurrency: Too small'],
    [{ memory: { pdftool: 1769 } }, 'memory: Unrecognized key'],
    [{ reserved: { routr: 1 } }, 'reserved: Unrecognized key'],
    [{ acountUrl: 'https://example.com' }, 'settings: Unrecognized key: "acountUrl"'],
    [
      { site: { mail: { from: 'a@example.com', parameter: 'smtp' } } },
      'site.mail.parameter: Must be the name of an',
    ],
    [
      { site: { openId: { issuer: 'http://example.com', clientId: 'a' } } },
      'site.openId.issuer: Invalid URL',
    ],
    [{ site: { cognito: { domain: 'my-aws' } } }, 'site.cognito.domain: Invalid'],
    [
      { site: { cognito: { domain: 'a' }, openId: { issuer: 'https://example.com', clientId: 'a' } } },
      'site: can have only one of openId and cognito',
    ],
    [{ accountUrl: 'example' }, 'accountUrl: Invalid URL'],
    [{ corsOrigins: ['https://www.example.com/'] }, 'corsOrigins.0: Must be * or an origin'],
    [{ destinations: { onFailure: 'arn:aws:s3:::bucket' } }, 'destinations.onFailure: Must be the ARN'],
    [{ provisioned: { pdftools: 1 } }, 'provisioned: cannot name pdftools while tenantIsolation is on'],
    [
      { front: { timeout: 120 } },
      'conversionLimits.seconds: must be at most 110, 10 seconds less than front.timeout',
    ],
    [
      { tenantIsolation: false },
      'tenantIsolation: can be off only with acceptSharedTenants: true, because a process that survives',
    ],
    [
      { rateLimits: { concurrent: 50 } },
      'rateLimits.concurrent: must be at most 5: with accountConcurrency 10, Lambda allows 5 environments of each tool',
    ],
    [
      { network: { tools: ['doc2any', 'html2pdf'], ...NETWORK } },
      'network.tools: can name html2pdf only with network.acceptBrowser: true',
    ],
    [
      { privateApi: { vpcEndpointIds: ['subnet-1'] } },
      'privateApi.vpcEndpointIds.0: Must be an ID such as vpce-0123456789abcdef0.',
    ],
    // Without one, the CDK would create one in a VPC that it does not know.
    [{ network: { tools: [], ...NETWORK, securityGroupIds: [] } }, 'network.securityGroupIds: '],
    [{ network: { tools: [], ...NETWORK, subnetIds: [] } }, 'network.subnetIds: '],
    [
      { privateApi: { vpcEndpointIds: ['vpce-01234567'] }, heartbeatMinutes: 5 },
      'heartbeatMinutes: needs network.router',
    ],
    [
      { privateApi: { vpcEndpointIds: ['vpce-01234567'] }, domain: { name: 'a', certificateArn: 'b' } },
      'privateApi: cannot be set together with front or domain',
    ],
    [{ kmsKey: 'alias/mine' }, 'kmsKey: Must be the ARN of a KMS key'],
    [{ kmsKey: 'arn:aws:kms:us-east-1:123456789012:key/mine' }, 'kmsKey: Must be the ARN of a KMS key'],
    [[], 'The settings must be a JSON object.'],
    [{ stages: [] }, 'stages must be an object'],
  ])('are rejected: %j', (given, message) => {
    expect(() => parseSettings(given)).toThrow(message);
  });

  it('are rejected with all mistakes in one message', () => {
    expect(() => parseSettings({ urlLifetime: 1.5, rateLimits: { perMinute: -1, perMonth: -2 } })).toThrow(
      /urlLifetime: .*perMinute: .*perMonth: /,
    );
  });
});

it.each([
  [undefined, {}, 15_000],
  ['prod', {}, 15_000],
  ['prod', { rateLimits: { perMinute: 100 } }, 500],
  ['prod', { rateLimits: { perMinute: 0 } }, 15_000],
  ['prod', { rateLimits: { perMinute: 1 } }, 10],
  ['prod', { rateLimits: { perMinute: 1_000_000_000 } }, 2_000_000_000],
  ['dev', {}, null],
  ['dev', { production: true }, 15_000],
  ['dev', { wafRate: 100 }, 100],
  ['prod', { wafRate: null }, null],
])('limit IP addresses by default in production: %s %j', (stage, own, wafRate) => {
  expect(parseSettings({ ...own, stages: { dev: {}, prod: {} } }, stage).wafRate).toBe(wafRate);
});

it.each([
  [10, undefined, 5],
  [40, undefined, 20],
  [1000, undefined, 50],
  [1000, 500, 500],
  [10, 0, 0],
])('let an account with %i executions convert %s at once, so %i', (accountConcurrency, given, concurrent) => {
  const rateLimits = given === undefined ? {} : { concurrent: given };
  expect(parseSettings({ accountConcurrency, rateLimits }).rateLimits.concurrent).toBe(concurrent);
});

it('name each endpoint once', () => {
  const vpcEndpointIds = ['vpce-01234567', 'vpce-01234567'];
  expect(parseSettings({ privateApi: { vpcEndpointIds } }).privateApi).toEqual({
    vpcEndpointIds: ['vpce-01234567'],
  });
});

it('are the same when they are read again', () => {
  const once = parseSettings({ wafRate: null, privateApi: { vpcEndpointIds: ['vpce-01234567'] } });
  expect(parseSettings(once)).toEqual(once);
});

describe('the settings of a stage', () => {
  const given = {
    accountConcurrency: 100,
    demo: { perHour: 10 },
    conversionLimits: { seconds: 60 },
    stages: { dev: { accountConcurrency: 10, demo: null, conversionLimits: { sourceMegabytes: 5 } } },
  };

  it('replace those of all stages, member by member', () => {
    expect(parseSettings(given, 'dev')).toMatchObject({
      accountConcurrency: 10,
      demo: null,
      conversionLimits: { seconds: 60, sourceMegabytes: 5 },
    });
  });

  it.each([undefined, 'prod'])('do not apply to stage %s', (stage) => {
    const all = { ...given, stages: { ...given.stages, prod: {} } };
    expect(parseSettings(all, stage)).toMatchObject({
      accountConcurrency: 100,
      demo: { perAddress: 5, perHour: 10 },
      conversionLimits: { seconds: 60, sourceMegabytes: 50 },
    });
  });

  it('must be in the settings, so that a misspelled one is not deployed', () => {
    expect(() => parseSettings(given, 'dve')).toThrow("There is no stage 'dve' in the settings.");
  });

  it('are checked like the others', () => {
    expect(() => parseSettings({ stages: { dev: { resultDay: 2 } } }, 'dev')).toThrow('"resultDay"');
  });
});

describe('the settings file', () => {
  it('is read and named in errors', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'settings-'));
    const file = join(directory, 'own.json');
    await writeFile(file, '{ "resultDays": 7, "stages": { "dev": { "resultDays": 2 } } }');

    const read = [readSettings({ file }).resultDays, readSettings({ file, stage: 'dev' }).resultDays];
    await writeFile(file, '{ "resultDays": 7');

    expect(read).toEqual([7, 2]);
    expect(() => readSettings({ file })).toThrow(file);
    expect(() => readSettings({ file: join(directory, 'missing.json') })).toThrow('ENOENT');
    await rm(directory, { recursive: true });
  });
});
