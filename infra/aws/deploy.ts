// Runs `cdk deploy` with the given arguments, and stores the stack's outputs beside those of other stages.
import { spawnSync } from 'node:child_process';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { OUTPUTS_FILE, readOutputs } from './outputs.ts';

const latest = `${OUTPUTS_FILE}.new`;
mkdirSync(dirname(latest), { recursive: true });
rmSync(latest, { force: true });
const args = ['deploy', '--outputs-file', latest, ...process.argv.slice(2)];
const { status } = spawnSync('cdk', args, { stdio: 'inherit' });
const outputs = { ...(await readOutputs(OUTPUTS_FILE)), ...(await readOutputs(latest)) };
writeFileSync(OUTPUTS_FILE, `${JSON.stringify(outputs, undefined, 2)}\n`);
rmSync(latest, { force: true });
process.exit(status ?? 1);
