// Builds the artifacts that the stack uploads, here or in a container; with `--update` from the newest packages. Plain JavaScript for any Node version from 20.
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { buildForAws, findProgram, run } from '../../container/container.mjs';
import { INSTALL_PROGRAM, placeOfBuild } from '../../container/place.mjs';
import { isSetUp, measureMachine, unmetLibrary, unmetPrograms } from '../../local/requirements.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../../..');

const wantsContainer = process.argv.includes('--container');
const unmet = process.platform === 'linux' ? unmetHere() : undefined;
const needsProgram = wantsContainer || process.platform !== 'linux' || unmet !== undefined;
const program = needsProgram ? findProgram() : undefined;

try {
  const { platform, versions } = process;
  if (placeOfBuild({ platform, node: versions.node, wantsContainer, program, unmet }) === 'container')
    await buildForAws(program, { isFresh: process.argv.includes('--update') });
  else await buildHere();
} catch (thrown) {
  process.stderr.write(`${thrown.message}\n`);
  process.exit(1);
}

/**
 * Returns the requirements for building the layers that this Linux does not meet. It may still have a container
 * program.
 */
function unmetHere() {
  const library = unmetLibrary(measureMachine(root), INSTALL_PROGRAM);
  if (library !== undefined || isSetUp(root)) return library;
  return unmetPrograms(process.env.PATH ?? '', INSTALL_PROGRAM);
}

async function buildHere() {
  const update = process.argv.filter((arg) => arg === '--update');
  await run(process.execPath, [join(root, 'infra/local/setup.mjs'), ...update]);
  await run(join(root, 'node_modules/.bin/node'), [join(root, 'infra/aws/build/build.ts'), ...update]);
}
