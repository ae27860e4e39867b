import type { Row } from '../row.ts';

/** Comes last: the canary has looked through everything that every row before it saw. */
export const apiKey: Row = {
  name: 'api-key',
  title:
    'API keys found in logs, answers, results, file names, keys’ file, environments and arguments of engines',
  target: '0',
  async run({ canary }) {
    const places = [...new Set(canary.found)];
    const failures = canary.inspected === 0 ? ['nothing was looked through'] : places;
    return { figure: `${canary.found.length} in ${canary.inspected} pieces`, failures };
  },
};
