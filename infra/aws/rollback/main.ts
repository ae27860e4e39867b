// Moves the aliases of the router and of every tool to an earlier release: `npm run rollback -- VERSION`. Without a
// version, it lists the releases. `--settings` and `--stage` are those of the deployment. `--outputs` names a file
// that `cdk deploy --outputs-file` has written.
import { parseArgs } from 'node:util';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { OUTPUTS_FILE, readOutputs, readStage, regionOption, stackName } from '../outputs.ts';
import { readSettings } from '../settings.ts';
import { listReleases, rollBack } from './releases.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    outputs: { type: 'string', default: OUTPUTS_FILE },
    settings: { type: 'string' },
    stage: { type: 'string' },
  },
});
const [version] = positionals;
const { settings: file, stage } = values;
const settings = readSettings({ ...(file && { file }), ...(stage && { stage }) });
const stack = stackName(settings.name, readStage(stage));
// The output is the ARN of the alias.
const router = (await readOutputs(values.outputs))[stack]?.RouterFunction?.split(':').at(-2);
if (router === undefined)
  throw new Error(`${values.outputs} has no outputs of the stack ${stack}. Deploy it first.`);
const client = new LambdaClient(regionOption());
process.stdout.write(`stack  ${stack}\n`);
if (version === undefined) {
  for (const { version: listed, deployed } of await listReleases(client, router))
    process.stdout.write(`${listed.padEnd(6)} ${deployed}\n`);
} else {
  for (const move of await rollBack(client, router, version))
    process.stdout.write(`${move.functionName} live -> ${move.version}\n`);
}
