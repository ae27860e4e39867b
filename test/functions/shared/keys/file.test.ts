import { mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { createApiKey } from '../../../../functions/shared/keys/api-key.ts';
import { createFileKeys, withKeys } from '../../../../functions/shared/keys/file.ts';
import { describeKeys } from './contract.ts';

let directory: string;
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'keys-'));
});
afterAll(() => rm(directory, { recursive: true }));

describeKeys('a file', async () => {
  const own = await mkdtemp(join(tmpdir(), 'keys-'));
  const file = join(own, 'deep/keys.json');
  return {
    keys: createFileKeys(file),
    dump: () => readFile(file, 'utf8'),
    close: () => rm(own, { recursive: true }),
  };
});

it('keeps keys over a restart, and says whether there are any', async () => {
  const file = join(directory, 'kept/keys.json');
  const before = createFileKeys(file);
  expect(before.empty).toBe(true);

  const apiKey = await before.create();
  const owner = await before.find(apiKey);

  const after = createFileKeys(file);
  expect(after.empty).toBe(false);
  expect(await after.find(apiKey)).toEqual(owner);
  await after.revoke(apiKey);
  expect(createFileKeys(file).empty).toBe(true);
});

it('takes at once what another process has made or ended', async () => {
  const file = join(directory, 'shared/keys.json');
  const [one, other] = [createFileKeys(file), createFileKeys(file)];
  expect(one.empty).toBe(true);

  const apiKey = await other.create();
  const found = await one.find(apiKey);
  await other.revoke(apiKey);

  expect(found).toBeDefined();
  expect(await one.find(apiKey)).toBeUndefined();
});

it('shows the file to nobody else', async () => {
  const file = join(directory, 'private/keys.json');

  await createFileKeys(file).create();

  expect((await stat(file)).mode & 0o777).toBe(0o600);
  expect((await stat(join(directory, 'private'))).mode & 0o777).toBe(0o700);
});

it('says so rather than starting afresh over a broken file', async () => {
  const file = join(directory, 'broken.json');
  await writeFile(file, '{"half');

  expect(() => createFileKeys(file).empty).toThrow(/cannot be read/);
  await expect(createFileKeys(file).create()).rejects.toThrow(/cannot be read/);
  expect(await readFile(file, 'utf8')).toBe('{"half');
});

it('takes a key of the operator, well-formed or not, beside those of the file', async () => {
  const file = createFileKeys(join(directory, 'more/keys.json'));
  const made = await file.create();

  const keys = withKeys(file, ['my own key', createApiKey()]);

  expect(await keys.find('my own key')).toEqual(await keys.find('my own key'));
  expect((await keys.find('my own key'))?.tenant).toMatch(/^[0-9a-f]{16}$/);
  expect(await keys.find(made)).toBeDefined();
  expect(await keys.find('my own')).toBeUndefined();
  expect(await file.find('my own key')).toBeUndefined();
});
