import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { json } from 'node:stream/consumers';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { afterEach, describe, expect, it } from 'vitest';
import { ENVIRONMENT_VARIABLE } from '../../../../functions/platform/aws/environment.ts';
import { listReleases, rollBack } from '../../../../infra/aws/rollback/releases.ts';

const PATH = /^\/2015-03-31\/functions\/([\w-]+)\/(configuration|versions\/?|aliases\/live)(?:\?(.*))?$/;
const arn = (name: string, version: number) =>
  `arn:aws:lambda:us-east-1:123456789012:function:${name}:${version}`;

/** The versions of each function, and of a router those of the tools that it invokes. */
const VERSIONS: Readonly<Record<string, Readonly<Record<string, object>>>> = {
  'stack-router': {
    1: { pdftools: arn('stack-pdftools', 1), doc2any: arn('stack-doc2any', 1) },
    2: { pdftools: arn('stack-pdftools', 2), doc2any: arn('stack-doc2any', 1) },
    3: { pdftools: arn('stack-pdftools', 2), doc2any: arn('stack-doc2any', 9) },
  },
  'stack-pdftools': { 1: {}, 2: {} },
  'stack-doc2any': { 1: {} },
};

/** The version of the router that each version of the site passes conversions on to. */
const SITE: Readonly<Record<string, string>> = { 2: '2', 4: '2', 11: '3' };

let close = () => {};
afterEach(() => close());

/** Serves the part of Lambda's API that knows versions and aliases, and notes which aliases were moved. */
async function startLambda() {
  const moved: string[] = [];
  const server = createServer(async (request, response) => {
    const [, name = '', what = '', query] = PATH.exec(request.url ?? '') ?? [];
    const { Qualifier = '', Marker } = Object.fromEntries(new URLSearchParams(query));
    const reply = (status: number, body: object) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    if (what.startsWith('aliases')) {
      const { FunctionVersion } = (await json(request)) as { FunctionVersion: string };
      moved.push(`${name} ${FunctionVersion}`);
      return reply(200, {});
    }
    if (name === 'stack-site' && what.startsWith('versions'))
      return reply(200, {
        Versions: Object.entries(SITE).map(([Version, router]) => ({
          Version,
          Environment: {
            Variables: {
              [ENVIRONMENT_VARIABLE]: JSON.stringify({ router: arn('stack-router', Number(router)) }),
            },
          },
        })),
      });
    const versions = VERSIONS[name] ?? {};
    if (what.startsWith('versions')) {
      const page = Marker
        ? Object.keys(versions).slice(1)
        : ['$LATEST', ...Object.keys(versions).slice(0, 1)];
      const Versions = page.map((Version) => ({ Version, LastModified: `2026-11-0${Version}` }));
      return reply(200, { Versions, ...(!Marker && { NextMarker: 'more' }) });
    }
    const toolFunctions = versions[Qualifier];
    if (!toolFunctions) return reply(404, { Type: 'User', Message: 'Function not found' });
    const Variables = { [ENVIRONMENT_VARIABLE]: JSON.stringify({ toolFunctions }) };
    return reply(200, { FunctionName: name, Version: Qualifier, Environment: { Variables } });
  }).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  const client = new LambdaClient({
    endpoint: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    region: 'us-east-1',
    credentials: { accessKeyId: 'id', secretAccessKey: 'secret' },
    maxAttempts: 1,
  });
  close = () => {
    client.destroy();
    server.close();
  };
  return { client, moved };
}

describe('a rollback', () => {
  it('lists every release of the router, the newest first', async () => {
    const { client } = await startLambda();

    expect((await listReleases(client, 'stack-router')).map(({ version }) => version)).toEqual([
      '3',
      '2',
      '1',
    ]);
  });

  it('moves the alias of every tool to the version that the router was deployed with, and the router last', async () => {
    const { client, moved } = await startLambda();

    await rollBack(client, 'stack-router', '2');

    expect(moved).toEqual(['stack-pdftools 2', 'stack-doc2any 1', 'stack-router 2']);
  });

  it('moves the site to its newest version for that router', async () => {
    const { client, moved } = await startLambda();

    await rollBack(client, 'stack-router', '2', 'stack-site');

    expect(moved).toEqual(['stack-pdftools 2', 'stack-doc2any 1', 'stack-site 4', 'stack-router 2']);
  });

  it('leaves the site as it is for a router from before the site was a function', async () => {
    const { client, moved } = await startLambda();

    await rollBack(client, 'stack-router', '1', 'stack-site');

    expect(moved).toEqual(['stack-pdftools 1', 'stack-doc2any 1', 'stack-router 1']);
  });

  it.each([
    ...['live', '$LATEST', '-1', ''].map((version) => [version, `A release is a number, got '${version}'.`]),
    ['4', 'Could not read version 4 of stack-router. No alias was changed.'],
    ['3', 'Could not read version 9 of stack-doc2any. No alias was changed.'],
  ] as Array<[string, string]>)(
    'to version %s, which is no complete release, moves nothing',
    async (version, message) => {
      const { client, moved } = await startLambda();

      await expect(rollBack(client, 'stack-router', version)).rejects.toThrow(message);
      expect(moved).toEqual([]);
    },
  );
});
