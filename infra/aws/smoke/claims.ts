import { type DynamoDBClient, ScanCommand } from '@aws-sdk/client-dynamodb';
import { InvokeCommand, type LambdaClient } from '@aws-sdk/client-lambda';
import { GetBucketLifecycleConfigurationCommand, type S3Client } from '@aws-sdk/client-s3';
import { type Check, endpointOf, timed } from './check.ts';

interface Deployment {
  readonly base: string;
  readonly apiKey: string;
  readonly lambda: LambdaClient;
  readonly s3: S3Client;
  readonly dynamodb: DynamoDBClient;
  /** Name or ARN of each tool's function, by tool. */
  readonly names: Readonly<Record<string, string>>;
  readonly bucket: string;
  /** URL that lists the bucket, without a signature. */
  readonly bucketUrl: string;
  readonly table: string;
  /** CloudFront URL, if CloudFront is part of the deployment. */
  readonly frontUrl?: string | undefined;
  /** Whether the functions have tenant isolation. */
  readonly isolated: boolean;
}

/** URLs that no conversion may access: Lambda's Runtime API and the instance metadata. */
const FORBIDDEN = [
  'http://127.0.0.1:9001/2018-06-01/runtime/invocation/next',
  'http://169.254.100.1:9001/2018-06-01/runtime/invocation/next',
  'http://169.254.169.254/latest/',
];
/** Timeout of the gateway for a response that is not streamed, in milliseconds. */
const GATEWAY_LIMIT = 29_000;

/**
 * Checks the claims about AWS that can be verified without changing the deployment. The operator's guide lists the
 * others.
 */
export async function* checkClaims(deployment: Deployment): AsyncGenerator<Check> {
  const { base, apiKey, lambda, s3, dynamodb, names, bucket, table, isolated } = deployment;
  const ask = (query: Record<string, string>, url = base) =>
    fetch(`${endpointOf(url)}?${new URLSearchParams({ apikey: apiKey, ...query })}`);
  yield await timed('every function requires a tenant ID', async () => {
    const refusals = await Promise.all(
      Object.values(names).map((name) =>
        lambda.send(new InvokeCommand({ FunctionName: name, Payload: '{"health":true}' })).then(
          () => 'accepted',
          (error: Error) => error.name,
        ),
      ),
    );
    const expected = isolated ? 'InvalidParameterValueException' : 'accepted';
    return { passed: refusals.every((name) => name === expected), seen: [...new Set(refusals)].join(', ') };
  });
  yield await timed('a conversion cannot reach the Runtime API or the metadata', async () => {
    const replies = await Promise.all(
      FORBIDDEN.map((infile) => ask({ app: 'html2image', infile, outfile: 'a.png' })),
    );
    const codes = replies.map(({ headers }) => headers.get('x-error-code'));
    return { passed: codes.every((code) => code === 'BLOCKED_ADDRESS'), seen: codes.join(', ') };
  });
  yield await timed('the bucket is not public', async () => {
    const { status } = await fetch(deployment.bucketUrl);
    return { passed: status === 403, seen: String(status) };
  });
  yield await timed('results are deleted after some days', async () => {
    const { Rules = [] } = await s3.send(new GetBucketLifecycleConfigurationCommand({ Bucket: bucket }));
    const days = Rules.filter(({ Status }) => Status === 'Enabled').flatMap(
      ({ Expiration }) => Expiration?.Days ?? [],
    );
    return { passed: days.length > 0, seen: `${days.join(', ')} days` };
  });
  yield await timed('the key table holds no API key', async () => {
    const { Items = [] } = await dynamodb.send(new ScanCommand({ TableName: table, Limit: 100 }));
    const text = JSON.stringify(Items).replaceAll('-', '');
    const passed = Items.length > 0 && !text.includes(apiKey.replaceAll('-', ''));
    return { passed, seen: `${Items.length} items` };
  });
  const { frontUrl } = deployment;
  if (frontUrl !== undefined) {
    yield await timed('CloudFront caches no error', async () => {
      const texts = [];
      for (const app of ['first', 'second']) texts.push(await (await ask({ app }, frontUrl)).text());
      const passed = texts[0]!.includes("'first'") && texts[1]!.includes("'second'");
      return { passed, seen: texts[1]!.slice(0, 80) };
    });
  }
}

/** Checks that the gateway waits for a conversion that takes 30 s. */
export function checkLongConversion({
  base,
  apiKey,
  page,
}: Pick<Deployment, 'base' | 'apiKey'> & {
  /** URL of a page. */
  readonly page: string;
}): Promise<Check> {
  return timed('a conversion may take longer than 29 s', async () => {
    const started = performance.now();
    const query = {
      apikey: apiKey,
      app: 'html2pdf',
      infile: page,
      outfile: 'a.pdf',
      '--window-status': 'never',
    };
    const response = await fetch(`${endpointOf(base)}?${new URLSearchParams(query)}`);
    const milliseconds = performance.now() - started;
    const text = await response.text();
    return {
      passed: milliseconds > GATEWAY_LIMIT && /^\[ERROR\] .+ \([A-Z_]+\)$/.test(text),
      seen: `${response.status} after ${Math.round(milliseconds / 1000)} s`,
    };
  });
}
