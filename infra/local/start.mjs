// Sets up and starts the server, here or in a container. Plain JavaScript for any Node version from 20.
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { findProgram, run, serveInContainer } from '../container/container.mjs';
import { placeOfServer } from '../container/place.mjs';
import { prepareCheckout } from './checkout.mjs';
import { NODE_OPTIONS } from './node-options.mjs';
import { unmetNamespaces } from './requirements.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const HELP = `npm start -- [--check] [--container]

  --check      converts a sample with each tool, and stops
  --container  runs in a container with Docker or Podman

Settings are environment variables, such as PORT=8080. See infra/local/README.md for all of them.
`;
const unknown = process.argv.slice(2).find((arg) => !['--check', '--container', '--help'].includes(arg));
if (unknown !== undefined) process.stderr.write(`Unknown argument ${unknown}.\n\n${HELP}`);
else if (process.argv.includes('--help')) process.stdout.write(HELP);
if (unknown !== undefined || process.argv.includes('--help')) process.exit(unknown === undefined ? 0 : 2);
const args = process.argv.slice(2).filter((arg) => arg !== '--container');
const wantsContainer = process.argv.includes('--container');
const needsProgram = wantsContainer || process.platform !== 'linux';
const program = needsProgram ? findProgram() : undefined;

try {
  const place = await placeOfServer({
    platform: process.platform,
    wantsContainer,
    program,
    isTerminal: Boolean(process.stdin.isTTY),
    ask,
  });
  if (place === 'here') await startHere();
  if (place === 'container') await serveInContainer(program, args);
} catch (thrown) {
  process.stderr.write(`${thrown.message}\n`);
  process.exit(1);
}

async function startHere() {
  const unmet = unmetNamespaces({ isRoot: process.getuid() === 0, sandbox: process.env.SANDBOX });
  if (unmet !== undefined) throw new Error(unmet);
  const cwd = prepareCheckout(root, process.env.BUILD_DIR);
  await run(process.execPath, [join(cwd, 'infra/local/setup.mjs')], { cwd });
  // Engines have a low priority within the session; see `layers/sandbox/launch.c`. Beside a busy program in the same
  // session they would hardly get any CPU time.
  const server = [...NODE_OPTIONS, join(cwd, 'infra/local/main.ts'), ...args];
  await run(join(cwd, 'node_modules/.bin/node'), server, { cwd, ownSession: true });
}

async function ask(question) {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(question);
  terminal.close();
  return answer;
}
