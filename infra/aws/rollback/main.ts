// Moves the aliases of the router and of every tool to an earlier release: `npm run rollback -- VERSION`. Without a version it lists
// those of the router. `--outputs` names a file that `cdk deploy --outputs-file` has written.
import { parseArgs } from 'node:util';
import { LambdaClient } from '@aws-sdk/client-lambda';
import { OUTPUTS_FILE, readOutputs } from '../outputs.ts';
import { listReleases, rollBack } from './releases.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { outputs: { type: 'string', default: OUTPUTS_FILE } },
});
const [version] = positionals;
// The output is the ARN of the alias.
const router = (await readOutputs(values.outputs))?.RouterFunction?.split(':').at(-2);
if (router === undefined) throw new Error(`${values.outputs} has no output RouterFunction. Deploy first.`);
const client = new LambdaClient();
if (version === undefined) {
  for (const { version: listed, deployed } of await listReleases(client, router))
    process.stdout.write(`${listed.padEnd(6)} ${deployed}\n`);
} else {
  for (const move of await rollBack(client, router, version))
    process.stdout.write(`${move.functionName} live -> ${move.version}\n`);
}
