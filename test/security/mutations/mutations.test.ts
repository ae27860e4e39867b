import { existsSync, readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { mutations, ROOT } from './mutations.ts';

it('finds the code of every rule that the security suite removes', () => {
  const missing = mutations().filter(
    ({ file, find }) => readFileSync(`${ROOT}${file}`, 'utf8').split(find).length !== 2,
  );

  expect(missing.map(({ name, file }) => `${name} in ${file}`)).toEqual([]);
});

it('finds the tests that must notice it', () => {
  const named = mutations().flatMap(({ tests }) => tests.filter((argument) => argument.startsWith('test/')));

  expect(named.filter((path) => !existsSync(`${ROOT}${path}`))).toEqual([]);
});
