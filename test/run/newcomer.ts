// Starts over as a newcomer: clones the last commit into a new folder, runs the README's first command with --check, which sets
// everything up and converts a sample with each tool, and then converts a document on the command line.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { removeTree } from '../../functions/engines/worker/linux/remove.ts';
import { ROOT } from './parts.ts';

const folder = mkdtempSync(join(tmpdir(), 'newcomer-'));
const checkout = join(folder, 'docmill');
// Without the packages and the Node version of this checkout.
const PATH = (process.env.PATH ?? '')
  .split(':')
  .filter((each) => !each.includes('node_modules'))
  .join(':');
const run = (command: string, args: readonly string[], cwd = checkout) =>
  execFileSync(command, args, {
    cwd,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, PATH },
  });

try {
  run('git', ['clone', '--quiet', ROOT, checkout], folder);
  run('npm', ['start', '--', '--check']);
  writeFileSync(join(folder, 'letter.html'), '<!doctype html><h1>Hello</h1>');
  run('npm', ['run', 'convert', '--', join(folder, 'letter.html'), '--to', join(folder, 'letter.pdf')]);
  const begin = readFileSync(join(folder, 'letter.pdf'), 'latin1').slice(0, 5);
  if (begin !== '%PDF-') throw new Error(`The command line wrote no PDF, but ${begin}`);
} finally {
  await removeTree(folder);
}
