// Checks a running service and prints the results: `npm run smoke -- BASE_URL KEY`. Each result is the source of a
// later request, so presigned URLs are checked, too. `--source TOOL=URL` names another source for a tool. `--settings`
// and `--stage` are those of the deployment. After `npm run deploy` it also invokes each tool's function directly and
// checks claims about the deployment, with your credentials.
import { parseArgs } from 'node:util';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { GetAccountSettingsCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { S3Client } from '@aws-sdk/client-s3';
import type { Tool } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { OUTPUTS_FILE, readOutputs, readStage, regionOption, stackName } from '../outputs.ts';
import { readSettings } from '../settings.ts';
import type { Check } from './check.ts';
import { checkService } from './checks.ts';
import { checkClaims, checkLongConversion } from './claims.ts';
import { checkFunctions } from './direct.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    source: { type: 'string', multiple: true, default: [] },
    outputs: { type: 'string', default: OUTPUTS_FILE },
    settings: { type: 'string' },
    stage: { type: 'string' },
  },
});
const [base, apiKey] = positionals;
if (base === undefined || apiKey === undefined) throw new Error('Usage: npm run smoke -- BASE_URL KEY');
const { source: given, settings: file, stage } = values;
const sources: Readonly<Record<string, string>> = {
  ...Object.fromEntries(Object.values<Tool>(tools).map(({ name, example }) => [name, example.url])),
  ...Object.fromEntries(given.map((each) => [each.split('=', 1)[0], each.slice(each.indexOf('=') + 1)])),
};
const settings = readSettings({ ...(file && { file }), ...(stage && { stage }) });

let failed = 0;
for await (const check of checkService({ base, apiKey, sources })) print(check);

const outputs = (await readOutputs(values.outputs))[stackName(settings.name, readStage(stage))];
if (outputs) {
  const lambda = new LambdaClient(regionOption());
  const names = Object.fromEntries(
    Object.entries(outputs).flatMap(([output, value]) => {
      const tool = /^(\w+)Function$/.exec(output)?.[1];
      return tool === undefined || !Object.hasOwn(tools, tool) ? [] : [[tool, value]];
    }),
  );
  const isolated = settings.tenantIsolation;
  for await (const check of checkFunctions({ lambda, names, isolated, sources })) print(check);
  const { ResultsBucket: bucket = '', ResultsUrl: bucketUrl = '', KeyTable: table = '' } = outputs;
  const { FrontUrl: frontUrl } = outputs;
  const clients = { lambda, s3: new S3Client(regionOption()), dynamodb: new DynamoDBClient(regionOption()) };
  const stored = { bucket, bucketUrl, table };
  const deployment = {
    base,
    apiKey,
    names,
    isolated,
    page: sources.html2pdf!,
    frontUrl,
    ...clients,
    ...stored,
  };
  // Runs in parallel to the other checks, because it takes 30 s.
  const long = checkLongConversion(deployment);
  for await (const check of checkClaims(deployment)) print(check);
  print(await long);
  process.stdout.write(
    'note infra/aws/README.md lists what else must be verified on AWS, with its commands.\n',
  );
  const { AccountLimit } = await lambda.send(new GetAccountSettingsCommand());
  const quota = AccountLimit?.ConcurrentExecutions;
  if (quota !== settings.accountConcurrency) {
    process.stdout.write(
      `note Your account allows ${quota} concurrent executions, but the settings say ${settings.accountConcurrency}.\n`,
    );
  }
}
process.exitCode = failed === 0 ? 0 : 1;

function print({ title, seen, passed, milliseconds }: Check): void {
  if (!passed) failed += 1;
  process.stdout.write(
    `${passed ? 'ok  ' : 'FAIL'} ${title.padEnd(58)} ${String(milliseconds).padStart(6)} ms  ${seen}\n`,
  );
}
