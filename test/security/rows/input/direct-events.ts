import { InvokeCommand, LambdaClient } from '@aws-sdk/client-lambda';
import { ERRORS } from '../../../../functions/shared/errors.ts';
import * as tools from '../../../../functions/tools.ts';
import { inParallel } from '../../../../layers/build/command.ts';
import { spellingsOfV4 } from '../../../fixtures/address-spellings.ts';
import { serveHttp } from '../../../helpers/fault-server.ts';
import { openEmulatedService } from '../../deployment/emulated-service.ts';
import { lambdaEmulator } from '../../deployment/lambda-emulator.ts';
import { inOwnNamespace } from '../../namespace/run.ts';
import type { Effort, Reached } from '../../row.ts';

/** A state machine that passes on JSON of its users must not give them the rights of the router. */
export const directEvents = inOwnNamespace(
  {
    name: 'direct-events',
    title: 'direct events with grants, limits and uploads',
    figures: 'events / taken as the router’s / connections to private addresses',
    target: '≥ 200 / 0 / 0',
  },
  import.meta.url,
);

const PICTURE = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
const PRIVATE = ['127.0.0.1', '169.254.169.254', '169.254.100.1', '10.0.0.1'];
const PATH = '/2018-06-01/runtime/invocation/next';
/** Names of the alias, and what is not the number of a version. */
const QUALIFIERS = ['live', 'v1', '1a', 'LATEST'];

export async function inside({ progress, canary, deployment }: Effort): Promise<Reached> {
  const wires = await deployment.layTripwires();
  const site = await serveHttp((_request, response) => response.writeHead(200).end(PICTURE));
  const infile = `${lambdaEmulator.originOf(site.port)}/a.png`;
  const service = await openEmulatedService({ canary, sources: [site.port] });
  const credentials = { accessKeyId: 'caller', secretAccessKey: 'secret' };
  const lambda = new LambdaClient({ endpoint: service.emulator.lambda, region: 'us-east-1', credentials });
  const events = Object.keys(tools).flatMap((tool) => eventsFor(tool, infile));
  const failures: string[] = [];
  let done = 0;
  try {
    await inParallel(events, 4, async ({ tool, event }, index) => {
      const qualifier = QUALIFIERS[index % QUALIFIERS.length];
      const { Payload, FunctionError } = await lambda.send(
        new InvokeCommand({
          FunctionName: `arn:aws:lambda:us-east-1:123456789012:function:${tool}:${qualifier}`,
          Payload: JSON.stringify(event),
          TenantId: 'outsider',
        }),
      );
      const text = Buffer.from(Payload ?? []).toString();
      const { errorType = '' } = JSON.parse(text) as { errorType?: string };
      const isTyped = Object.hasOwn(ERRORS, errorType) && errorType !== 'INTERNAL';
      if (FunctionError === undefined || !isTyped)
        failures.push(`${tool}:${qualifier} ${JSON.stringify(event).slice(0, 200)}: ${text.slice(0, 200)}`);
      progress(++done, events.length);
    });
    const taken = failures.length;
    const visitors = service.visitors();
    const { tcp } = wires.hits();
    if (tcp + visitors > 0)
      failures.push(`${tcp} connections`, `${visitors} to a Runtime API`, ...wires.asked);
    return { figure: `${events.length} / ${taken} / ${tcp + visitors}`, failures };
  } finally {
    lambda.destroy();
    await Promise.all([service.close(), wires.close(), site.close()]);
  }
}

/** Events of the router with a grant of the caller's own, public events with the router's fields, and uploads to private addresses. */
function eventsFor(tool: string, infile: string): { tool: string; event: object }[] {
  const targets = PRIVATE.flatMap((address) =>
    spellingsOfV4(address)
      .filter((host) => !/\]?:\d+$/.test(host))
      .map((host) => `http://${host}:9001${PATH}`),
  ).filter((url) => URL.canParse(url));
  const limits = {
    sourceBytes: 1e12,
    resultBytes: 1e12,
    pixels: 1e12,
    pages: 1e9,
    files: 1e9,
    conversionTime: 1e9,
    settleTime: 1,
  };
  const invocation = (url: string) => ({
    tool,
    account: 'victim',
    source: url,
    format: 'png',
    outputName: { kind: 'one', name: 'a.png' },
    options: {},
    grant: { url, fields: { key: 'x' }, prefix: '', maxBytes: 1e12 },
    limits,
    deadline: 1e15,
  });
  const outfile = tool === 'html2pdf' || tool === 'doc2any' ? 'a.pdf' : 'a.png';
  const event = { version: 1, infile, outfile };
  const some = targets.filter((_, index) => index % 20 === 0);
  const router = some.flatMap((url) => [invocation(url), { ...invocation(url), version: 1 }]);
  const uploads = some.flatMap((url) => [
    { ...event, infile: url },
    { ...event, upload: { url } },
    { ...event, upload: { url, fields: { key: 'x' } } },
  ]);
  const fields = {
    grant: { url: infile },
    limits,
    account: 'victim',
    files: [],
    validate: {},
    deadline: 1e15,
    tool,
    source: infile,
  };
  const mixed = Object.entries(fields).map(([name, value]) => ({ ...event, [name]: value }));
  // The guard, the reader of events or the engine must refuse each of these.
  return [...router, ...mixed, ...uploads].map((each) => ({ tool, event: each }));
}
