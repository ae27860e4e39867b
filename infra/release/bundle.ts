// `npm run bundle` writes `dist/docmill-VERSION-linux-x64.tar.gz`: the server, its packages, its engines and Node, which start without any
// network. `--directory` writes only the folder, for the container image.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { parseArgs } from 'node:util';
import { readCommit } from '../version.ts';
import { BUNDLED_FILES } from './files.ts';

const ROOT = join(import.meta.dirname, '../..');
const SCRIPTS = { start: 'local', docmill: 'convert', keys: 'keys' };

const { values: flags } = parseArgs({ options: { directory: { type: 'boolean', default: false } } });
const description = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
const name = `docmill-${description.version}`;
const folder = join(ROOT, 'dist/bundle', flags.directory ? 'docmill' : name);

say('Copying');
rmSync(dirname(folder), { recursive: true, force: true });
for (const file of BUNDLED_FILES) copy(file);
copy('package-lock.json');
copy('node_modules');

say('Removing packages that only development needs');
const options = [
  '--omit=dev',
  '--ignore-scripts',
  '--offline',
  '--no-audit',
  '--no-fund',
  '--loglevel=error',
];
execFileSync('npm', ['prune', ...options], { cwd: folder, stdio: 'inherit' });
// The layer has it unpacked.
rmSync(join(folder, 'node_modules/@sparticuz/chromium/bin'), { recursive: true });
// The set-up takes a folder without this file as complete.
rmSync(join(folder, 'package-lock.json'));
const commit = { ...description, gitHead: readCommit() };
writeFileSync(join(folder, 'package.json'), `${JSON.stringify(commit, undefined, 2)}\n`);
for (const [script, command] of Object.entries(SCRIPTS)) {
  const lines = [
    '#!/bin/sh',
    'here=$(dirname "$(readlink -f "$0")")',
    `exec "$here/node_modules/.bin/node" "$here/infra/${command}/start.mjs" "$@"`,
  ];
  writeFileSync(join(folder, script), `${lines.join('\n')}\n`, { mode: 0o755 });
}

if (!flags.directory) {
  const archive = join(ROOT, 'dist', `${name}-linux-x64.tar.gz`);
  say('Packing');
  const anyone = ['--owner=0', '--group=0', '--numeric-owner', '--sort=name'];
  execFileSync('tar', ['-czf', archive, ...anyone, '-C', dirname(folder), name], { stdio: 'inherit' });
  rmSync(dirname(folder), { recursive: true });
  say(archive);
}

function copy(file: string): void {
  const target = join(folder, file);
  mkdirSync(dirname(target), { recursive: true });
  // Links within packages stay as they are.
  cpSync(join(ROOT, file), target, { recursive: true, verbatimSymlinks: true });
}

function say(text: string): void {
  process.stdout.write(`${text}\n`);
}
