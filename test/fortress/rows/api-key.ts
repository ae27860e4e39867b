import { spawn } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createApiKey } from '../../../functions/shared/keys/api-key.ts';
import type { Canary } from '../canary.ts';
import { ROOT } from '../mutations.ts';
import type { Row } from '../row.ts';

/** Comes last: the canary has looked through what every row before it saw, and looks at a service with a key in its environment. */
export const apiKey: Row = {
  name: 'api-key',
  title: 'API keys found in logs, answers, results, files, and environments and arguments of engines',
  target: '0',
  async run({ canary }) {
    const code = await checkService(canary);
    const failures = [...new Set(canary.found)];
    if (code !== 0) failures.push(`the check of the service ended with ${code}`);
    return { figure: `${canary.found.length} in ${canary.inspected} pieces`, failures };
  },
};

/** Runs the check that `npm start -- --check` runs, with a key of the operator's. */
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
  const looking = setInterval(() => canary.inspectProcesses(service.pid), 50);
  const code = await new Promise<number | null>((resolve) => service.once('close', resolve));
  clearInterval(looking);
  await rm(directory, { recursive: true, force: true });
  return code;
}
