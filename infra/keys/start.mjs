// Manages API keys on the Node version in the lock file. Plain JavaScript for any Node version from 20.
import { existsSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { run } from '../container/container.mjs';

const root = join(dirname(fileURLToPath(import.meta.url)), '../..');
const cwd = resolve(process.env.BUILD_DIR || root);
if (!existsSync(join(cwd, 'node_modules/.package-lock.json'))) {
  process.stderr.write(`There are no npm packages in ${cwd}. Run 'npm start' first, or 'npm ci' for AWS.\n`);
  process.exit(1);
}
const own = join(cwd, 'node_modules/.bin/node');
// Only Linux has Node in the lock file.
const node = existsSync(own) ? own : process.execPath;
await run(node, [join(cwd, 'infra/keys/main.ts'), ...process.argv.slice(2)], { cwd });
