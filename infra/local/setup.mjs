// Installs the packages and builds the layers. Plain JavaScript for any Node version from 20.
import { spawn } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import {
  isSetUp,
  markSetUp,
  measureMachine,
  unmetPrograms,
  unmetRequirement,
  unmetSpace,
} from './requirements.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');

const machine = measureMachine(root);
const unmet =
  unmetRequirement(machine) ??
  (isSetUp(root) ? undefined : (unmetPrograms(process.env.PATH ?? '') ?? unmetSpace(machine)));
if (unmet !== undefined) fail(unmet);

// A bundle has everything and no list of packages; see `infra/release/bundle.ts`.
if (!existsSync(join(root, 'package-lock.json'))) process.exit();
if (!installed()) {
  // Includes packages that NODE_ENV or npm's configuration would leave out.
  const all = ['--include=dev', '--include=optional'];
  const quiet = ['--no-audit', '--no-fund', '--no-update-notifier', '--loglevel=error'];
  await run('Installing npm packages', 'npm', ['ci', ...all, ...quiet]);
}
// From here on everything runs on the Node version in the lock file.
await run(undefined, join(root, 'node_modules/.bin/node'), ['layers/build.ts', ...process.argv.slice(2)]);
await run(undefined, join(root, 'node_modules/.bin/node'), ['functions/site/build.ts']);
markSetUp(root);

/** Whether every package is installed in the version from the lock file. */
function installed() {
  const lock = readPackages('package-lock.json');
  const found = readPackages('node_modules/.package-lock.json');
  if (!lock || !found || !existsSync(join(root, 'node_modules/.bin/node'))) return false;
  return Object.entries(lock).every(([path, { version, optional }]) => {
    if (path === '') return true;
    return found[path] === undefined ? optional === true : found[path].version === version;
  });
}

function readPackages(file) {
  try {
    return JSON.parse(readFileSync(join(root, file), 'utf8')).packages;
  } catch {
    return undefined;
  }
}

/** Runs one step. A named step shows how long it has been running. */
function run(name, command, args) {
  const started = Date.now();
  const show = (end) => {
    if (name)
      process.stdout.write(
        `${process.stdout.isTTY ? '\r' : ''}${name} … ${Math.round((Date.now() - started) / 1000)} s${end}`,
      );
  };
  const interval = process.stdout.isTTY ? 1000 : 10_000;
  const timer = setInterval(() => show(process.stdout.isTTY ? '' : '\n'), interval);
  show(process.stdout.isTTY ? '' : '\n');
  return new Promise((resolve) => {
    const child = spawn(command, args, { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] });
    child.once('error', (error) => fail(`${command} could not be started: ${error.message}`));
    child.once('exit', (code) => {
      clearInterval(timer);
      if (code !== 0) fail(name ? `${name} failed.` : 'The set-up failed. The reason is in the lines above.');
      show('\n');
      resolve();
    });
  });
}

function fail(message) {
  process.stderr.write(`${message}\n`);
  process.exit(1);
}
