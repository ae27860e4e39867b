import { execFile } from 'node:child_process';
import { chmod, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';

const LOCK = join(import.meta.dirname, '../../../../infra/local/operation/lock.ts');
/** Without these capabilities, permissions also apply to root. */
const PLAIN_ROOT = [
  'setpriv',
  '--bounding-set',
  '-dac_override,-dac_read_search',
  '--inh-caps',
  '-dac_override,-dac_read_search',
];

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'lock-'));
});
afterEach(() => rm(directory, { recursive: true }));

/** Returns why the directory cannot be locked, or nothing. */
function lock(): Promise<string> {
  const script = `import(${JSON.stringify(LOCK)}).then(({ lockDataDirectory }) => lockDataDirectory(${JSON.stringify(directory)})).catch(({ message }) => console.log(message))`;
  const [program, ...args] = [
    ...(process.getuid?.() === 0 ? PLAIN_ROOT : []),
    process.execPath,
    '-e',
    script,
  ];
  return new Promise((resolve) => {
    execFile(program!, args, (_error, stdout, stderr) => resolve(`${stdout}${stderr}`));
  });
}

it('locks a new data directory, and one that was used before', async () => {
  expect([await lock(), await lock()]).toEqual(['', '']);
});

it('rejects a data directory if the results are not writable', async () => {
  await mkdir(join(directory, 'results'), { mode: 0o500 });

  expect(await lock()).toMatch(
    new RegExp(
      `^The data directory ${directory} cannot be used\\. Check that the user that runs docmill \\(user ID ${process.geteuid?.()}\\) owns it and everything in it, .* access '${join(directory, 'results')}'\\)\\n$`,
    ),
  );
});

it('rejects a data directory if the secret of its URLs is not readable', async () => {
  await writeFile(join(directory, 'address-secret'), '');
  await chmod(join(directory, 'address-secret'), 0o200);

  expect(await lock()).toMatch(/cannot be used\. .* access '.*address-secret'/);
});
