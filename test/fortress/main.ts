// Prints the table of what must hold, with the figure reached beside each target. Names of rows choose among them.
import { parseArgs } from 'node:util';
import { createCanary } from './canary.ts';
import { ROWS } from './rows.ts';
import { rowText, runRows } from './table.ts';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { brief: { type: 'boolean', default: false } },
});
const unknown = positionals.filter((name) => !ROWS.some((row) => row.name === name));
if (unknown.length > 0) {
  process.stderr.write(
    `No row is called ${unknown.join(', ')}; there are ${ROWS.map(({ name }) => name).join(', ')}.\n`,
  );
  process.exit(2);
}

const rows = ROWS.filter(({ name }) => positionals.length === 0 || positionals.includes(name));
process.stdout.write('| | attack | target | reached |\n|---|---|---|---|\n');
const passed = await runRows(rows, { whole: !values.brief, canary: createCanary() }, (row, reached) => {
  process.stdout.write(`${rowText(row, reached)}\n`);
});
process.exit(passed ? 0 : 1);
