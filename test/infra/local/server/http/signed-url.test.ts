import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { readSecret } from '../../../../../infra/local/server/http/signed-url.ts';

let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'secret-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

it('is created once, readable only for the owner', () => {
  const file = join(directory, 'data', 'secret');
  const secret = readSecret(file);

  expect(secret).toHaveLength(32);
  expect(readSecret(file)).toEqual(secret);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(join(directory, 'data'))).toEqual(['secret']);
});

it.each(['', 'short'])('replaces the incomplete secret %j that a full disk left', (left) => {
  const file = join(directory, 'secret');
  writeFileSync(file, left);

  expect(readSecret(file)).toHaveLength(32);
  expect(readFileSync(file)).toHaveLength(32);
});
