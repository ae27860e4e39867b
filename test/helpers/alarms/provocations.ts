import { setTimeout } from 'node:timers/promises';
import { watchErrors, withCallMetrics } from '../../../functions/platform/aws/lambda/metrics.ts';
import { createDynamoTable } from '../../../functions/platform/aws/table.ts';
import { createKeys } from '../../../functions/platform/key-store.ts';
import { createApiKey } from '../../../functions/platform/keys.ts';
import type { Dependencies } from '../../../functions/router/dependencies.ts';
import { createCoalescer } from '../../../functions/router/reuse.ts';
import { route } from '../../../functions/router/route.ts';
import { createLog, type Log } from '../../../functions/shared/log.ts';
import { CONVERSION_LIMITS } from '../../../functions/shared/tool.ts';
import * as tools from '../../../functions/tools.ts';
import { startDynalite } from '../../aws-servers/dynalite.ts';
import { recordOf, unlimited } from '../../functions/accounts.ts';
import { STACK } from '../../lambda-emulator/deployment.ts';
import { KEPT_RESULTS } from '../kept-results.ts';

/** Log lines, as the functions write them. */
export async function linesOf(work: (log: Log) => Promise<unknown>): Promise<string[]> {
  const lines: string[] = [];
  await work(createLog((line) => lines.push(line)));
  return lines;
}

const QUERY = { apikey: 'KEY', app: 'imageproc', infile: 'https://example.org/a.png', outfile: 'b.png' };

/** Sends one call to the router. */
export function call(log: Log, more: Partial<Dependencies>) {
  const dependencies: Dependencies = {
    ...unlimited,
    tools: Object.values(tools),
    keys: { find: async () => recordOf('owner'), findSigner: async () => undefined },
    storage: {
      ...KEPT_RESULTS,
      grant: async (request) => ({ ...request }),
      url: async () => 'https://files.example/',
    },
    invoke: async () => ({ ok: true, objectKeys: [] }),
    coalesce: createCoalescer(),
    limits: CONVERSION_LIMITS,
    contact: { accountUrl: 'https://a.example/', supportUrl: 'https://s.example/' },
    ...more,
    log: withCallMetrics(log, STACK),
  };
  const query = Object.entries(QUERY).map(([name, value]) => ({ name, value }));
  return route(
    { method: 'GET', path: '/api/', query, header: () => undefined },
    dependencies,
    new AbortController().signal,
  );
}

/** Causes what each alarm on the service's own metrics is about, and returns the log lines. */
export const PROVOCATIONS: Readonly<Record<string, () => Promise<string[]>>> = {
  InternalErrors: () => linesOf((log) => call(log, { invoke: () => Promise.reject(new Error('broken')) })),

  SlowConversions: () =>
    linesOf((log) =>
      call(log, {
        invoke: async () => {
          await setTimeout(1650);
          return { ok: true, objectKeys: [] };
        },
      }),
    ),

  KeyTableErrors: async () => {
    const { client, close } = await startDynalite('keys');
    const lines = await linesOf(async (log) => {
      const keys = watchErrors(createKeys(createDynamoTable({ client, table: 'missing' })), log, STACK);
      const apiKey = createApiKey();
      await call(log, { keys: { find: () => keys.find(apiKey), findSigner: async () => undefined } });
    });
    await close();
    return lines;
  },
};
