#!/usr/bin/env node
// Converts files on the Node version in the lock file. Plain JavaScript for any Node version from 20.
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../container/container.mjs';
import { prepareCheckout } from '../local/checkout.mjs';
import { isUnchanged, unmetNamespaces } from '../local/requirements.mjs';

// The time in the summary includes what happens here.
process.env.DOCMILL_BEGAN = String(Math.round(performance.timeOrigin));
const root = join(dirname(realpathSync(fileURLToPath(import.meta.url))), '../..');
const args = process.argv.slice(2);
// npm runs scripts in the checkout, but paths are relative to the directory in which the command was typed.
const cwd = process.env.npm_lifecycle_event === 'convert' ? process.env.INIT_CWD : process.cwd();
if (args[0] === '--help' && args.length === 1) {
  process.stdout.write(readFileSync(join(root, 'infra/convert/help.txt')));
  process.exit();
}
const needsEngines = !args.some((arg) => /^--(url(=|$)|help$)/.test(arg));

try {
  const unmet =
    needsEngines && unmetNamespaces({ isRoot: process.getuid?.() === 0, sandbox: process.env.SANDBOX });
  if (unmet) throw new Error(unmet);
  const checkout = prepareCheckout(root, process.env.BUILD_DIR);
  const own = join(checkout, 'node_modules/.bin/node');
  if (needsEngines ? !isUnchanged(checkout) : !existsSync(join(checkout, 'node_modules')))
    await run(process.execPath, [join(checkout, 'infra/local/setup.mjs')], { cwd: checkout });
  // Only Linux has Node in the lock file.
  const node = existsSync(own) ? own : process.execPath;
  // Loading the code takes half the time if it is compiled.
  process.env.NODE_COMPILE_CACHE ??= join(checkout, 'dist/cache/compiled');
  await run(node, [join(checkout, 'infra/convert/main.ts'), ...args], { cwd });
} catch (thrown) {
  process.stderr.write(`${thrown.message}\n`);
  process.exit(1);
}
