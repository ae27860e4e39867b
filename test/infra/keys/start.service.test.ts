import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { COMPILE_CACHE } from '../../helpers/processes.ts';

const SCRIPT = join(import.meta.dirname, '../../../infra/keys/start.mjs');

let directory: string;
beforeAll(() => {
  directory = mkdtempSync(join(tmpdir(), 'keys start-'));
});
afterAll(() => rmSync(directory, { recursive: true }));

function run(
  environment: object,
  ...args: string[]
): Promise<{ code: number; stdout: string; stderr: string }> {
  const env = { PATH: '/usr/bin:/bin', ...COMPILE_CACHE, ...environment };
  return new Promise((resolve) => {
    execFile(process.execPath, [SCRIPT, ...args], { env }, (error, stdout, stderr) =>
      resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
    );
  });
}

describe('npm run keys', () => {
  it('runs on the Node version in the lock file, in this checkout', async () => {
    expect(await run({}, 'help')).toMatchObject({ code: 0, stdout: expect.stringContaining('create') });
    expect((await run({}, 'nonsense')).code).toBe(2);
  });

  it('says what to run before packages are installed', async () => {
    expect(await run({ BUILD_DIR: directory }, 'list')).toEqual({
      code: 1,
      stdout: '',
      stderr: `There are no npm packages in ${directory}. Run 'npm start' first, or 'npm ci' for AWS.\n`,
    });
  });

  it('runs in BUILD_DIR like the server', async () => {
    const build = join(directory, 'build dir');
    mkdirSync(join(build, 'node_modules/.bin'), { recursive: true });
    writeFileSync(join(build, 'node_modules/.package-lock.json'), '{}');
    writeFileSync(join(build, 'node_modules/.bin/node'), '#!/bin/sh\necho "$PWD" "$@"\n', { mode: 0o755 });

    expect((await run({ BUILD_DIR: build }, 'create', '--name', 'a b')).stdout).toBe(
      `${build} ${join(build, 'infra/keys/main.ts')} create --name a b\n`,
    );
  });
});
