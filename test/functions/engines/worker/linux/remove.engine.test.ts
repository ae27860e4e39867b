import { execFileSync } from 'node:child_process';
import { chownSync, mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { removeTree } from '../../../../../functions/engines/worker/linux/remove.ts';

const NOBODY = 65_534;
const [DISK, REMOVE] = ['limits.ts', 'remove.ts'].map((name) =>
  fileURLToPath(new URL(`../../../../../functions/engines/worker/linux/${name}`, import.meta.url)),
);
let directory: string;

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'hidden-test-'));
});

afterEach(() => removeTree(directory));

/** Runs a script as an ordinary user, because root may list every directory. */
function run(script: string): string {
  if (process.getuid?.() === 0) chownSync(directory, NOBODY, NOBODY);
  const whole = `
    import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
    import { diskUsage } from ${JSON.stringify(DISK)};
    import { removeTree } from ${JSON.stringify(REMOVE)};
    // After the imports, because other users may not be able to read this folder.
    if (process.getuid() === 0) {
      process.setgid(${NOBODY});
      process.setuid(${NOBODY});
    }
    mkdirSync('hidden/inner', { recursive: true });
    writeFileSync('hidden/inner/file', Buffer.alloc(1_000_000));
    chmodSync('hidden/inner', 0o500);
    chmodSync('hidden', 0o300);
    console.log(${script});`;
  return execFileSync(process.execPath, ['--input-type=module-typescript', '-e', whole], {
    cwd: directory,
    encoding: 'utf8',
  }).trim();
}

it('counts a directory that cannot be listed as one without limits', () => {
  expect(run(`await diskUsage('.')`)).toBe('Infinity');
});

it('deletes directories that cannot be listed or changed', () => {
  expect(run(`(await removeTree('hidden'), existsSync('hidden'))`)).toBe('false');
});

/**
 * Makes directories whose path is longer than 4096 bytes, with a file in the innermost. Returns by a relative path, because this user
 * may have no access to the directories above.
 */
const DEEP = `for (let depth = 0; depth < 25; depth++) { mkdirSync('d'.repeat(200)); process.chdir('d'.repeat(200)); }
    writeFileSync('file', Buffer.alloc(1_000_000));
    process.chdir('../'.repeat(25));`;

it('counts directories that are nested too deeply for a path as ones without limits, and deletes them', () => {
  const script = `await (async () => {
    chmodSync('hidden', 0o700); chmodSync('hidden/inner', 0o700); process.chdir('hidden');
    ${DEEP}
    process.chdir('..');
    return [await diskUsage('.'), await removeTree('hidden'), existsSync('hidden')].join();
  })()`;

  expect(run(script)).toBe('Infinity,,false');
});
