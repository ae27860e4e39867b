import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { textSetting } from '../../../functions/shared/settings/environment.ts';

const ROOT = join(import.meta.dirname, '../../..');
const CDK = join(ROOT, 'node_modules/.bin/cdk');
/** An empty network namespace, where the kernel allows one. */
const ALONE = ['--user', '--map-root-user', '--net'];

let home: string;
beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'synth-'));
  // Artifacts are built before, with a network.
  spawnSync(process.execPath, [join(ROOT, 'infra/aws/build/build.ts')], { stdio: 'inherit' });
}, 900_000);
afterAll(() => rmSync(home, { recursive: true }));

it('synthesizes without network, credentials or Docker', () => {
  const args = ['synth', '--quiet', '--output', home];
  const alone = spawnSync('unshare', [...ALONE, 'true']).status === 0;
  const [command, ...rest] = alone ? ['unshare', ...ALONE, CDK, ...args] : [CDK, ...args];
  const path = `${join(ROOT, 'node_modules/.bin')}:${textSetting('PATH', '/usr/bin:/bin')}`;

  const { status, stderr } = spawnSync(command!, rest, {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: 300_000,
    env: { PATH: path, HOME: home },
  });

  expect({ status, stderr: status === 0 ? '' : stderr }).toEqual({ status: 0, stderr: '' });
  const { Resources: resources } = JSON.parse(readFileSync(join(home, 'docmill.template.json'), 'utf8'));
  expect(Object.keys(resources).length).toBeGreaterThan(30);
}, 600_000);
