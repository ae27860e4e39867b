import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ReadSigner } from '../../shared/tool.ts';
import { isIpAccount } from '../ip-account.ts';

/**
 * Reads signers from a folder: the key in `NAME.p12`, its passphrase in `NAME.txt`, and in `NAME.accounts` the accounts
 * that may use it, one a line. `*` means every account with an API key.
 */
export function createSigners(directory: string): ReadSigner {
  return async (name, account) => {
    const file = (extension: string) => join(directory, `${name}.${extension}`);
    const list = await readFile(file('accounts'), 'utf8').catch(() => '');
    const accounts = list.split(/\s+/);
    const isAllowed = accounts.includes(account) || accounts.includes('*');
    if (!isAllowed || isIpAccount(account)) return undefined;
    const passphrase = await readFile(file('txt'), 'utf8');
    return { pkcs12: await readFile(file('p12')), passphrase: passphrase.trim() };
  };
}
