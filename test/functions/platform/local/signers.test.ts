import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { accountOfIp } from '../../../../functions/platform/ip-account.ts';
import { createSigners } from '../../../../functions/platform/local/signers.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'signers-'));
  writeFileSync(join(directory, 'office.p12'), 'key');
  writeFileSync(join(directory, 'office.txt'), 'secret\n');
});
afterEach(() => rmSync(directory, { recursive: true }));

it.each([
  ['', []],
  ['one\n', ['one']],
  ['one\ntwo\n', ['one', 'two']],
  ['*\n', ['one', 'two', 'three']],
])('gives a signer to the accounts %j', async (list, expected) => {
  if (list !== '') writeFileSync(join(directory, 'office.accounts'), list);
  const find = createSigners(directory);

  const allowed: string[] = [];
  for (const account of ['one', 'two', 'three', accountOfIp('1.2.3.4')])
    if ((await find('office', account))?.passphrase === 'secret') allowed.push(account);

  expect(allowed).toEqual(expected);
  expect(await find('other', 'one')).toBeUndefined();
});
