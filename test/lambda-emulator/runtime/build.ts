import { createHash } from 'node:crypto';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../../../layers/build/command.ts';
import { buildOnce } from '../../../layers/build/product.ts';

/**
 * AWS's own runtime client. Not in `package.json`: npm 10 would run its install script, which compiles curl and needs CMake,
 * on every machine that only starts the service. `npm pack` downloads it without running anything.
 */
const CLIENT = {
  package: 'aws-lambda-ric@4.0.2',
  integrity:
    'sha512-FE5Vskx7mYNnqAnWWJXUOsLp2VGgdsJsCoRLFTa8L4Yk0QVtArqR8q58yPA++QC1a73ZWJXBQ2AH31nIAv7NOQ==',
} as const;

/**
 * Unpacks AWS's runtime client and returns its folder; `index.mjs` in it is what Lambda runs as
 * `/var/runtime/index.mjs`.
 */
export async function buildRuntimeClient(progress: (text: string) => void): Promise<string> {
  const into = join(import.meta.dirname, '../../../dist/test/runtime-client');
  await buildOnce({ into, progress }, CLIENT, async (directory) => {
    const packed = await runCommand('npm', [
      ...['pack', CLIENT.package, '--silent', '--pack-destination', directory],
    ]);
    const archive = join(directory, packed.trim().split('\n').at(-1)!);
    const digest = createHash('sha512')
      .update(await readFile(archive))
      .digest('base64');
    if (`sha512-${digest}` !== CLIENT.integrity) {
      throw new Error(`${CLIENT.package} has the integrity sha512-${digest}, expected ${CLIENT.integrity}.`);
    }
    const files = ['index.mjs', 'package.json', 'LICENSE', 'NOTICE'].map((name) => `package/${name}`);
    await runCommand('tar', ['-xzf', archive, '-C', directory, '--strip-components=1', ...files]);
    await rm(archive);
  });
  return into;
}
