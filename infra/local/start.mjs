// Plain JavaScript, because it must run on any Node version from 20: sets up and starts the server here or in a container.
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { findProgram, run, serveInContainer } from '../container/container.mjs';

const args = process.argv.slice(2).filter((arg) => arg !== '--container');
const here = import.meta.dirname ?? new URL('.', import.meta.url).pathname;

if (process.argv.includes('--container')) await startInContainer();
else if (process.platform === 'linux') await startHere();
else if (await agreesToContainer()) await startInContainer();

async function startHere() {
  await run(process.execPath, [join(here, 'setup.mjs')]);
  await run(join(here, '../../node_modules/.bin/node'), [join(here, 'main.ts'), ...args]);
}

async function startInContainer() {
  const program = findProgram();
  if (program === undefined)
    fail('No running docker, podman or finch was found. Install and start one of them.');
  await serveInContainer(program, { port: process.env.PORT ?? '3000', args });
}

/** Asks once in a terminal. Scripts use `--container` instead. */
async function agreesToContainer() {
  const reason = `The conversion engines run on Linux, and this is ${process.platform}.`;
  if (findProgram() === undefined)
    fail(`${reason} Install and start docker, podman or finch, then run this again.`);
  if (!process.stdin.isTTY) fail(`${reason} Run 'npm start -- --container' to start them in a container.`);
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const answer = await terminal.question(`${reason} Build and start a container? [Y/n] `);
  terminal.close();
  return /^(y|yes|)$/i.test(answer.trim());
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
