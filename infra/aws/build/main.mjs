// Plain JavaScript for any Node version from 20. Builds what the stack uploads, here or in a container.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildForAws, findProgram, run } from '../../container/container.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

if (process.platform === 'linux' && !process.argv.includes('--container')) {
  await run(process.execPath, [join(root, 'infra/local/setup.mjs')]);
  await run(join(root, 'node_modules/.bin/node'), [join(root, 'infra/aws/build/build.ts')]);
} else {
  const program = findProgram();
  if (program === undefined) {
    process.stderr.write(
      `The layers are built on Linux, and this is ${process.platform}. Install and start docker, podman or finch, then run this again.\n`,
    );
    process.exit(1);
  }
  await buildForAws(program);
}
