import fc from 'fast-check';
import { createApiKey } from '../../../../functions/platform/keys.ts';
import { createCoalescer } from '../../../../functions/router/reuse.ts';
import { route } from '../../../../functions/router/route.ts';
import { ERRORS } from '../../../../functions/shared/errors.ts';
import { createLog } from '../../../../functions/shared/log.ts';
import { CONVERSION_LIMITS, type Tool } from '../../../../functions/shared/tool.ts';
import * as tools from '../../../../functions/tools.ts';
import { createHttpServer } from '../../../../infra/local/server/http/server.ts';
import { recordOf, unlimited } from '../../../functions/accounts.ts';
import { brokenQuery } from '../../attacks/broken-query.ts';
import { httpGet } from '../../attacks/http-get.ts';
import { lambdaEmulator } from '../../deployment/lambda-emulator.ts';
import { amount, type Effort, type Reached, type Row } from '../../row.ts';

const ROW = {
  name: 'queries',
  title: 'broken query strings',
  figures: 'responses with status 500 / engines started',
  target: '2000, 0 / 0',
};

/**
 * Broken queries over real HTTP through the real router. Only the engines are replaced, to count which
 * queries reach them.
 */
export const queries: Row = {
  ...ROW,
  async run(effort) {
    const { canary } = effort;
    const apiKey = createApiKey();
    canary.watch(apiKey);
    let started = 0;
    const storage = { grant: async () => ({}) as never, address: async () => 'http://localhost/' };
    const dependencies = {
      tools: TOOLS,
      ...unlimited,
      keys: {
        find: async (given: string) => (given === apiKey ? recordOf('one') : undefined),
        findSigner: async () => undefined,
      },
      storage: storage as never,
      invoke: async () => {
        started += 1;
        throw new Error('An engine was started.');
      },
      coalesce: createCoalescer(),
      limits: CONVERSION_LIMITS,
      contact: { accountUrl: 'http://localhost/account', supportUrl: 'http://localhost/support' },
      log: createLog((line) => canary.inspect('log', line)),
    };
    const { server } = createHttpServer({
      log: () => {},
      connections: 100,
      storage: undefined as never,
      texts: new Map(),
      route: (http, _base, signal) => route(http, dependencies, signal),
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };

    try {
      return await attack(port, apiKey, effort, () => started);
    } finally {
      server.close();
      server.closeAllConnections();
    }
  },
};

/** The same through the gateway and the router as deployed. The events that reach the tools are counted. */
export const emulatorQueries: Row = {
  ...ROW,
  run: (effort) =>
    lambdaEmulator.withService(effort, ({ base, apiKey, emulator }) => {
      const started = () => TOOLS.reduce((sum, { name }) => sum + emulator.functions.get(name)!.events, 0);
      return attack(Number(new URL(base).port), apiKey, effort, started);
    }),
};

const TOOLS: readonly Tool[] = Object.values(tools);

async function attack(port: number, apiKey: string, effort: Effort, started: () => number): Promise<Reached> {
  const { progress, canary } = effort;
  const rounds = amount(effort, 2000, { short: 200 });
  const failures: string[] = [];
  let done = 0;
  const judge = async (query: string) => {
    const { status, headers, body } = await httpGet(port, `/api/?${query}`);
    canary.inspect('answer to a broken query', body + JSON.stringify(headers));
    const code = String(headers['x-error-code'] ?? '');
    const typed = Object.hasOwn(ERRORS, code) && body.endsWith(`(${code})`) && status < 500;
    const keyless = status === 200 && body.startsWith('[ERROR] Please provide a valid APIKEY.');
    // Requests that no HTTP parser accepts never reach the router.
    const refused = status === 400 && body === '';
    const plain = headers['content-type'] === 'text/plain; charset=utf-8';
    if (!refused && !((typed || keyless) && plain))
      failures.push(`${status} ${code}: ${query.slice(0, 150)}`);
    progress(++done, rounds);
  };
  await fc.assert(fc.asyncProperty(brokenQuery(TOOLS, apiKey), judge), {
    numRuns: rounds,
    seed: 20_261_120,
  });
  if (started() > 0) failures.push(`${started()} engines started`);
  const errors = failures.filter((failure) => failure.startsWith('5')).length;
  return { figure: `${done}, ${errors} / ${started()}`, failures };
}
