// Prints the summary of a file with results: `node summary.ts FILE`. Exits with 1 if something failed.
import { hasFailures, readResults, summarize } from './results.ts';

const results = readResults(process.argv[2]!);
process.stdout.write(summarize(results));
process.exitCode = hasFailures(results) ? 1 : 0;
