import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readSystemNames } from '../../../../functions/shared/egress/resolver.ts';

async function read(hosts: string, resolver: string) {
  const directory = mkdtempSync(join(tmpdir(), 'system-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const files = [join(directory, 'hosts'), join(directory, 'resolv.conf')] as const;
  writeFileSync(files[0], hosts);
  writeFileSync(files[1], resolver);
  const names = await readSystemNames(...files);
  return { hosts: Object.fromEntries(names.hosts), search: names.search };
}

it('reads every IP address of a name, in any case and with comments', async () => {
  const { hosts } = await read('127.0.0.1 localhost Local # one\n::1\tlocalhost\nnot-an-address name\n', '');

  expect(hosts).toEqual({ localhost: ['127.0.0.1', '::1'], local: ['127.0.0.1'] });
});

it.each([
  ['nameserver 1.2.3.4\nsearch One.Example. two.example\n', ['one.example', 'two.example']],
  ['search one.example\ndomain two.example\n', ['two.example']],
  ['domain one.example\nsearch two.example\nnameserver 1.2.3.4\n', ['two.example']],
  ['nameserver 1.2.3.4\n', []],
])('takes the search domains from the last line that has some: %j', async (resolver, search) => {
  expect(await read('', resolver)).toEqual({ hosts: {}, search });
});

it('takes missing files for empty ones', async () => {
  expect(await readSystemNames('/nowhere/hosts', '/nowhere/resolv.conf')).toEqual({
    hosts: new Map(),
    search: [],
  });
});
