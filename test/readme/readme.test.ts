import { existsSync, readFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { describe, expect, it } from 'vitest';
import * as tools from '../../functions/tools.ts';
import { fill, readmes, tables } from './tables.ts';

const root = join(import.meta.dirname, '../..');
const files = readmes().map((path) => ({ path: relative(root, path), text: readFileSync(path, 'utf8') }));

describe.each(files)('$path', ({ path, text }) => {
  it('holds the tables that the code and the data files generate (run `npm run readme`)', () => {
    expect(fill(text, join(root, path))).toBe(text);
  });

  it('names only scripts that package.json has', () => {
    const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

    const named = [...text.matchAll(/npm run ([\w:]+)/g)].map((match) => match[1]!);

    expect(named.filter((name) => !(name in scripts))).toEqual([]);
  });

  it('links only to files that exist', () => {
    const links = [...text.matchAll(/\]\(([^)#\s]+)(?:#[^)]*)?\)/g)].map((match) => match[1]!);
    const local = links.filter((link) => !/^[a-z]+:/.test(link));

    expect(local.filter((link) => !existsSync(join(root, dirname(path), link)))).toEqual([]);
  });
});

it('puts each generated table into exactly one README', () => {
  const places = [...tables().keys()].map((name) => ({
    name,
    count: files.filter(({ text }) => text.includes(`<!-- table: ${name} -->`)).length,
  }));

  expect(places.filter(({ count }) => count !== 1)).toEqual([]);
});

it.each(Object.keys(tools))('puts the options of %s next to the tool', (name) => {
  const readme = files.find(({ path }) => path === `functions/${name}/README.md`);

  expect(readme?.text).toContain(`<!-- table: ${name} -->`);
});
