// Converts with every tool of a running service and prints what it saw: `npm run smoke -- BASE_URL KEY`.
// `--page` and `--document` name other sources; each result is the source of a later call, so presigned addresses are proven too.
import { parseArgs } from 'node:util';
import { checkService } from './checks.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    page: { type: 'string', default: 'https://example.com/' },
    document: { type: 'string', default: 'https://www.w3.org/TR/PNG/iso_8859-1.txt' },
  },
});
const [base, apiKey] = positionals;
if (base === undefined || apiKey === undefined) throw new Error('Usage: npm run smoke -- BASE_URL KEY');

let failed = 0;
for await (const { title, seen, passed, milliseconds } of checkService({ base, apiKey, ...values })) {
  if (!passed) failed += 1;
  process.stdout.write(
    `${passed ? 'ok  ' : 'FAIL'} ${title.padEnd(44)} ${String(milliseconds).padStart(6)} ms  ${seen}\n`,
  );
}
process.exitCode = failed === 0 ? 0 : 1;
