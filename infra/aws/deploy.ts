// Runs `cdk deploy` for a stage, and stores the stack's outputs beside those of other stages: `npm run deploy -- --stage dev`.
// `--settings` names another file, and `--update` builds the layers from the newest packages. All other arguments are those of `cdk deploy`.
// Says how old the layers are, and which of their packages have newer versions.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { daysSince } from '../../functions/shared/time.ts';
import type { Version } from '../version.ts';
import { deployArguments, UPDATE } from './deploy-arguments.ts';
import { OUTPUTS_FILE, readOutputs, VERSION_FILE } from './outputs.ts';

const runHere = (...args: string[]) => spawnSync(process.execPath, args, { stdio: 'inherit' });
if (process.argv.includes(UPDATE)) {
  const { status } = runHere(join(import.meta.dirname, 'build/main.mjs'), UPDATE);
  if (status !== 0) process.exit(status ?? 1);
}
// Not the layers of this checkout: a build in a container leaves none, and one machine has no Chromium of AWS.
const file = join(import.meta.dirname, '../../dist/aws', VERSION_FILE);
const { built = '' } = existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as Partial<Version>) : {};
const days = daysSince(built);
if (days >= 0)
  process.stdout.write(
    `The engines were built ${days} days ago. '${UPDATE}' builds them from the newest packages.\n`,
  );
// Needs a network, so it may fail.
if (days > 0) runHere(join(import.meta.dirname, '../release/outdated.ts'));

const latest = `${OUTPUTS_FILE}.new`;
mkdirSync(dirname(latest), { recursive: true });
rmSync(latest, { force: true });
const args = deployArguments(process.argv.slice(2), { hasTerminal: process.stdin.isTTY });
// Not the command `cdk`, which is a script that Windows can start only with a shell.
const cdk = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
const command = [cdk, 'deploy', '--outputs-file', latest, ...args];
const { status, error } = runHere(...command);
if (error) process.stderr.write(`The CDK did not start: ${error.message}\n`);
const outputs = { ...(await readOutputs(OUTPUTS_FILE)), ...(await readOutputs(latest)) };
writeFileSync(OUTPUTS_FILE, `${JSON.stringify(outputs, undefined, 2)}\n`);
rmSync(latest, { force: true });
process.exit(status ?? 1);
