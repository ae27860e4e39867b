import { SAMPLES } from '../../../infra/local/self-check/samples.ts';
import { serveJobs } from '../attacks/jobs.ts';
import { searchService } from '../checks/key-search.ts';
import type { Row } from '../row.ts';

const TITLE = { name: 'api-key', target: '0' };

/**
 * Comes last: the canary has searched the output of all previous rows. This row adds a service with a key in
 * its environment.
 */
export const apiKey: Row = {
  ...TITLE,
  title: 'API keys in outputs',
  figures:
    'found in logs, responses, metrics, usage, results, the database, files, the keys command, environments and arguments',
  async run({ canary }) {
    const code = await searchService(canary);
    const failures = [...new Set(canary.found)];
    if (code !== 0) failures.push(`the service ended with ${code}`);
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
