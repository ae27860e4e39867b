// Moves the aliases of the router and of every tool to an earlier release: `npm run rollback -- VERSION`. Without a
// version, it lists the releases. `--settings` and `--stage` are those of the deployment, or `--stack` names its stack.
import { parseArgs } from 'node:util';
import { LambdaClient } from '@aws-sdk/client-lambda';
import type {
  FunctionEnvironment,
  RouterEnvironment,
  SiteEnvironment,
} from '../../../functions/platform/aws/environment.ts';
import { findFunction } from '../deployed.ts';
import { readStage, regionOption, stackName } from '../outputs.ts';
import { readSettings } from '../settings.ts';
import { listReleases, rollBack } from './releases.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { settings: { type: 'string' }, stage: { type: 'string' }, stack: { type: 'string' } },
});
const [version] = positionals;
const { settings: file, stage } = values;
const settings = readSettings({ ...(file && { file }), ...(stage && { stage }) });
const stack = values.stack ?? stackName(settings.name, readStage(stage));
const client = new LambdaClient(regionOption());
const isOwn = ({ metricsNamespace }: FunctionEnvironment) => metricsNamespace === stack;
const router = await findFunction<RouterEnvironment>(client, 'toolFunctions', isOwn);
if (!router) throw new Error(`There is no router of the stack ${stack} in ${await client.config.region()}.`);
process.stdout.write(`stack  ${stack}\n`);
if (version === undefined) {
  for (const { version: listed, deployed } of await listReleases(client, router.name))
    process.stdout.write(`${listed.padEnd(6)} ${deployed}\n`);
} else {
  const site = await findFunction<SiteEnvironment>(client, 'signUp', isOwn);
  for (const move of await rollBack(client, router.name, version, site?.name))
    process.stdout.write(`${move.functionName} live -> ${move.version}\n`);
}
