import { createConfig, lintFromString } from '@redocly/openapi-core';
import { describe, expect, it } from 'vitest';
import type { Option } from '../../functions/shared/options/option.ts';
import * as all from '../../functions/tools.ts';
import { ownService } from '../lab/service.ts';
import { useService } from './use-service.ts';

const used = useService(() => ({}), { SITE: 'off' });
interface Reply {
  readonly outputs?: readonly { readonly name: string; readonly contentType: string }[];
  readonly ignored?: readonly string[];
}

interface Description {
  readonly openapi: string;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly properties: Readonly<Record<string, unknown>> }>>;
  };
}

const read = async () => (await fetch(`${used().service.base}/api/openapi.json`)).text();

/** Returns the mistakes that Redocly's recommended rules find in a description. */
async function mistakesIn(text: string): Promise<string[]> {
  const config = await createConfig({ extends: ['recommended'] });
  return (await lintFromString({ source: text, config })).map(
    ({ ruleId, message }) => `${ruleId}: ${message}`,
  );
}

describe.runIf(ownService)('/api/openapi.json (needs a service of one machine)', () => {
  it('follows the rules of a linter that finds mistakes', async () => {
    const text = await read();

    expect(await mistakesIn(text)).toEqual([]);
    expect(await mistakesIn(text.replace('"in": "query"', '"in": "nowhere"'))).not.toEqual([]);
  });

  it('contains every option of every tool', async () => {
    const { openapi, components } = JSON.parse(await read()) as Description;

    expect(openapi).toBe('3.1.0');
    for (const [tool, { options }] of Object.entries(all)) {
      const names = Object.values(options).flatMap((option: Option<unknown>) =>
        Object.values(option.readers ?? { option }).flatMap((each) => each.names),
      );
      const described = Object.keys(components.schemas[`${tool}Request`]!.properties);
      expect(described).toEqual(expect.arrayContaining(['app', 'infile', 'outfile', ...names]));
    }
  });
});

describe('/api/json', () => {
  const post = async (body: unknown) => {
    const { service } = used();
    const response = await fetch(`${service.base}/api/json`, {
      method: 'POST',
      headers: { 'x-api-key': service.apiKey, 'content-type': 'application/json' },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    });
    return { status: response.status, ...((await response.json()) as Reply) };
  };
  const page = { app: 'html2image', infile: 'data:text/html,<p>Hello', outfile: 'a.png' };

  it('takes parameters as JSON, and responds with JSON without an Accept header', async () => {
    const { outputs, ignored } = await post({
      ...page,
      '--width': 320,
      '--custom-header': ['a:1', 'b:2'],
      '-q': true,
    });

    expect(outputs![0]).toMatchObject({ name: 'a.png', contentType: 'image/png' });
    expect(ignored).toEqual(['-q']);
  });

  it.each([
    ['a part of JSON', '{', 'The body is not valid JSON.'],
    ['a list', [page], 'The body must be a JSON object with the parameters.'],
    [
      'an object as a value',
      { ...page, '--width': { a: 1 } },
      "Parameter '--width' must be a string, a number, a boolean or an array of these.",
    ],
    [
      'too many values',
      { ...page, '--custom-header': Array(600).fill('a 1') },
      'A body may have at most 500 parameters.',
    ],
  ])('refuses %s', async (_, body, detail) => {
    expect(await post(body)).toMatchObject({ status: 400, code: 'BAD_PARAMETER', detail });
  });

  it('refuses brackets that would take long to parse', async () => {
    expect(await post('['.repeat(500_000))).toMatchObject({ code: 'BAD_PARAMETER' });
  });
});

it.runIf(ownService)('/llms.txt names every tool', async () => {
  const response = await fetch(`${used().service.base}/llms.txt`);
  const text = await response.text();

  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  expect(text.length).toBeLessThan(20_000);
  for (const tool of Object.keys(all)) expect(text).toContain(`- [${tool}](/docs/${tool}): `);
  expect(text).toContain('-watermark');
});

it.runIf(ownService)(
  'has no pages for people if the site is off, except those that a missing key leads to',
  async () => {
    const types = await Promise.all(
      ['/', '/docs', '/site/check', '/account', '/support'].map(async (path) => {
        const response = await fetch(`${used().service.base}${path}`, { headers: { Accept: 'text/html' } });
        return `${response.status} ${response.headers.get('content-type')}`;
      }),
    );

    const [absent, text] = [404, 200].map((status) => `${status} text/plain; charset=utf-8`);
    expect(types).toEqual([absent, absent, absent, text, text]);
  },
);
