import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiKey } from '../../../functions/shared/keys/api-key.ts';
import { SAMPLES } from '../../../infra/local/self-check/samples.ts';
import { serveJobs } from '../attacks/jobs.ts';
import type { Canary } from '../checks/canary.ts';
import { ROOT } from '../mutations/mutations.ts';
import type { Row } from '../row.ts';

const TITLE = { name: 'api-key', target: '0' };

/** Comes last: the canary has searched the output of all previous rows. This row adds a service with a key in its environment. */
export const apiKey: Row = {
  ...TITLE,
  title: 'API keys in outputs',
  figures: 'found in logs, responses, results, files, environments and arguments',
  async run({ canary }) {
    const code = await checkService(canary);
    const failures = [...new Set(canary.found)];
    if (code !== 0) failures.push(`the check of the service ended with ${code}`);
    return { figure: `${canary.found.length} in ${canary.inspected} pieces`, failures };
  },
};

/** Comes last too: logs, environments, responses, results, the objects with their headers, and the key table. */
export const emulatorApiKey: Row = {
  ...TITLE,
  title: 'API keys in outputs',
  figures: 'found in logs, responses, objects, headers, the key table, environments and arguments',
  async run({ canary, deployment }) {
    const jobs = await serveJobs(deployment);
    const failures: string[] = [];
    await deployment.withService({ canary, sources: [jobs.port] }, async (service) => {
      for (let index = 0; index < 2 * SAMPLES.length; index++) {
        const { body, results } = await service.ask(jobs.query(index));
        if (results.length !== 1) failures.push(body);
        for (const address of results) await service.fetchResult(address);
      }
    });
    jobs.close();
    failures.push(...new Set(canary.found));
    return { figure: `${canary.found.length} in ${canary.inspected} pieces`, failures };
  },
};

/** Runs the check of `npm start -- --check` with a key from the settings. */
async function checkService(canary: Canary): Promise<number | null> {
  const operatorsKey = createApiKey();
  canary.watch(operatorsKey);
  const directory = await mkdtemp(join(tmpdir(), 'api-key-'));
  const env = { ...process.env, API_KEY: operatorsKey, PORT: '0', DATA_DIR: directory, TMPDIR: directory };
  const service = spawn(process.execPath, ['infra/local/main.ts', '--check'], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  for (const stream of [service.stdout, service.stderr])
    stream.on('data', (chunk: Buffer) => canary.inspect('what the service prints', chunk));
  const looking = setInterval(() => canary.inspectProcesses([service.pid!]), 50);
  const code = await new Promise<number | null>((resolve) => service.once('close', resolve));
  clearInterval(looking);
  await rm(directory, { recursive: true, force: true });
  return code;
}
