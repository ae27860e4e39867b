import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { NAMESPACES } from '../../lambda-emulator/network.ts';

const ROOT = join(import.meta.dirname, '../../..');

it('starts from one archive, without a network and without Node', () => {
  const directory = mkdtempSync(join(tmpdir(), 'bundle-'));
  onTestFinished(() => rmSync(directory, { recursive: true }));
  const printed = execFileSync(process.execPath, ['infra/release/bundle.ts'], {
    cwd: ROOT,
    encoding: 'utf8',
  });
  execFileSync('tar', ['-xzf', printed.trim().split('\n').at(-1)!, '-C', directory]);
  const [folder] = readdirSync(directory);

  const { status, stdout } = spawnSync(
    'unshare',
    [...NAMESPACES, 'sh', '-c', 'ip link set lo up && exec "$@"', 'sh', './start', '--check'],
    {
      cwd: join(directory, folder!),
      encoding: 'utf8',
      env: { PATH: '/usr/sbin:/usr/bin:/sbin:/bin', HOME: directory, PORT: '0', SANDBOX: 'best-effort' },
    },
  );

  expect(stdout.match(/^\w+ .* ms .* http:/gm)).toHaveLength(5);
  expect(status).toBe(0);
});
