// Plain JavaScript for any Node version from 20. Builds what the stack uploads, here or in a container.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildForAws, findProgram, run } from '../../container/container.mjs';
import { placeOfBuild } from '../../container/place.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

const wantsContainer = process.argv.includes('--container');
const needsProgram = wantsContainer || process.platform !== 'linux';
const program = needsProgram ? findProgram() : undefined;

try {
  const { platform, versions } = process;
  if (placeOfBuild({ platform, node: versions.node, wantsContainer, program }) === 'container')
    await buildForAws(program);
  else await buildHere();
} catch (thrown) {
  process.stderr.write(`${thrown.message}\n`);
  process.exit(1);
}

async function buildHere() {
  await run(process.execPath, [join(root, 'infra/local/setup.mjs')]);
  await run(join(root, 'node_modules/.bin/node'), [join(root, 'infra/aws/build/build.ts')]);
}
