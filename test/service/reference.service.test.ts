import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import * as all from '../../functions/tools.ts';
import { isInstalled } from '../helpers/installed.ts';
import { ownService } from './server/service.ts';
import { useService } from './server/use-service.ts';

const used = useService(() => ({}), { SITE: 'off' });
const VALIDATOR = `
import json, sys
from openapi_spec_validator import OpenAPIV31SpecValidator
errors = [error.message for error in OpenAPIV31SpecValidator(json.load(sys.stdin)).iter_errors()]
print(json.dumps(errors))`;

/** Whether Python has the package that validates OpenAPI documents. */
function hasValidator(): boolean {
  if (!isInstalled('python3')) return false;
  try {
    execFileSync('python3', ['-c', 'import openapi_spec_validator'], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

function validate(text: string): string[] {
  return JSON.parse(execFileSync('python3', ['-c', VALIDATOR], { input: text, encoding: 'utf8' }));
}

interface Description {
  readonly openapi: string;
  readonly paths: Readonly<
    Record<string, Readonly<Record<string, { parameters: ({ $ref: string } | { name: string })[] }>>>
  >;
  readonly components: { readonly parameters: Readonly<Record<string, { readonly name: string }>> };
}

const read = async () => (await fetch(`${used().service.base}/api/openapi.json`)).text();

describe.runIf(ownService)('/api/openapi.json (needs a service of one machine)', () => {
  it.skipIf(!hasValidator())('is valid OpenAPI 3.1, to a validator that finds mistakes', async () => {
    const text = await read();

    expect(validate(text)).toEqual([]);
    expect(validate(text.replace('"in": "query"', '"in": "nowhere"'))).not.toEqual([]);
  });

  it('contains every option of every tool', async () => {
    const { openapi, paths, components } = JSON.parse(await read()) as Description;

    const prefix = '#/components/parameters/';
    const names = paths['/api/']!.get!.parameters.map((parameter) =>
      '$ref' in parameter ? components.parameters[parameter.$ref.slice(prefix.length)]!.name : parameter.name,
    );
    const options = Object.values(all).flatMap((tool) =>
      Object.values(tool.options).flatMap((option) => option.names),
    );
    expect(openapi).toBe('3.1.0');
    expect(new Set(names).size).toBe(names.length);
    expect(options.filter((name) => !name.startsWith('_') && !names.includes(name))).toEqual([]);
    expect(names).toEqual(
      expect.arrayContaining(['app', 'infile', 'outfile', '-resize', '--page-size', 'in_ext']),
    );
  });
});

it.runIf(ownService)('/llms.txt names every tool', async () => {
  const response = await fetch(`${used().service.base}/llms.txt`);
  const text = await response.text();

  expect(response.headers.get('content-type')).toBe('text/plain; charset=utf-8');
  for (const tool of Object.keys(all)) expect(text).toContain(`- ${tool}: `);
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
