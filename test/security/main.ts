// Prints the table of targets with the measured figures. Names of rows select some of them;
// `--aws` attacks the Lambda emulator instead of the one-machine deployment, `--brief` runs the share for CI,
// `--write` writes the whole table into the README.
import { enterNamespaces } from '../lambda-emulator/network/namespaces.ts';
import { chooseNames, readArguments } from '../report/arguments.ts';
import { recordPart } from '../run/results.ts';
import { createCanary } from './checks/canary.ts';
import { lambdaEmulator, setUpNetwork } from './deployment/lambda-emulator.ts';
import { oneMachine } from './deployment/one-machine.ts';
import { type Run, writeReadme } from './readme.ts';
import { EMULATOR_ROWS, ROWS } from './rows.ts';
import { headOf, rowText, runRows } from './table.ts';

const { values, positionals, fail } = readArguments(
  'npm run security -- [--aws] [--brief] [--write] [ROW…]',
  {
    aws: { type: 'boolean', default: false },
    brief: { type: 'boolean', default: false },
    write: { type: 'boolean', default: false },
  },
);
const [all, deployment] = values.aws ? [EMULATOR_ROWS, lambdaEmulator] : [ROWS, oneMachine];
const names = chooseNames(
  all.map(({ name }) => name),
  positionals,
  fail,
);
if (values.write && (positionals.length > 0 || values.brief))
  fail('--write needs the whole table: name no rows, and leave out --brief.');
if (values.aws) {
  await enterNamespaces(import.meta.filename);
  await setUpNetwork();
}

const started = Date.now();
const rows = all.filter(({ name }) => names.includes(name));
process.stdout.write(`${headOf(deployment.name)}\n`);
const extent = values.brief ? 'share' : positionals.length > 0 ? 'all' : 'table';
const effort = { extent, canary: createCanary(), deployment } as const;
const done: Run['rows'][number][] = [];
const passed = await runRows(rows, effort, (row, reached, seconds) => {
  done.push({ row, reached, seconds });
  process.stdout.write(`${rowText(row, reached, seconds)}\n`);
});
recordPart(resultOf(done));
const unproven = done.filter(({ reached }) => reached.unproven !== undefined).length;
const minutes = (Date.now() - started) / 60_000;
if (values.write) writeReadme({ deployment: deployment.name, minutes, rows: done });
const met =
  unproven === 0 ? 'All targets met' : `No target missed, ${unproven} not proven on this busy machine`;
process.stdout.write(`${passed ? met : 'NOT all targets met'}, in ${minutes.toFixed(1)} minutes.\n`);
process.exit(passed ? 0 : 1);

function resultOf(rows: Run['rows']): Parameters<typeof recordPart>[0] {
  const skipped = rows.flatMap(({ row: { name }, reached: { failures, skipped, unproven } }) => {
    const reason = skipped ?? (unproven && `not proven: ${unproven}`);
    return failures.length > 0 || reason === undefined ? [] : [{ name, reason }];
  });
  const failed = rows.flatMap(({ row: { name }, reached: { failures } }) =>
    failures.length > 0 ? [{ name, reason: failures[0] }] : [],
  );
  return { passed: rows.length - failed.length - skipped.length, failed, skipped };
}
