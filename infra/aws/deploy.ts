// Runs `cdk deploy` for a stage, and stores the stack's outputs beside those of other stages: `npm run deploy -- --stage dev`.
// `--settings` names another file. All other arguments are those of `cdk deploy`.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname } from 'node:path';
import { deployArguments } from './deploy-arguments.ts';
import { OUTPUTS_FILE, readOutputs } from './outputs.ts';

const latest = `${OUTPUTS_FILE}.new`;
mkdirSync(dirname(latest), { recursive: true });
rmSync(latest, { force: true });
const args = deployArguments(process.argv.slice(2), { hasTerminal: process.stdin.isTTY });
// Not the command `cdk`, which is a script that Windows can start only with a shell.
const cdk = createRequire(import.meta.url).resolve('aws-cdk/bin/cdk');
const command = [cdk, 'deploy', '--outputs-file', latest, ...args];
const { status, error } = spawnSync(process.execPath, command, { stdio: 'inherit' });
if (error) process.stderr.write(`The CDK did not start: ${error.message}\n`);
const outputs = { ...(await readOutputs(OUTPUTS_FILE)), ...(await readOutputs(latest)) };
writeFileSync(OUTPUTS_FILE, `${JSON.stringify(outputs, undefined, 2)}\n`);
rmSync(latest, { force: true });
process.exit(status ?? 1);
