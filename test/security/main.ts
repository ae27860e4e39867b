// Prints the table of targets with the measured figures. Names of rows select some of them, with all their repetitions;
// `--aws` attacks the Lambda emulator instead of the one-machine deployment, `--write` writes the data file and the README.
import { enterNamespaces } from '../lambda-emulator/network.ts';
import { chooseNames, readArguments } from '../run/report.ts';
import { recordPart } from '../run/results.ts';
import { createCanary } from './checks.ts';
import { lambdaEmulator, setUpNetwork } from './deployment/emulator.ts';
import { oneMachine } from './deployment/one-machine.ts';
import { type Done, headOf, rowText, runWithProgress, writeRows } from './row.ts';
import { EMULATOR_ROWS, ROWS } from './rows.ts';

const { values, positionals, fail } = readArguments('npm run security -- [--aws] [--write] [ROW…]', {
  aws: { type: 'boolean', default: false },
  write: { type: 'boolean', default: false },
});
const [all, deployment] = values.aws ? [EMULATOR_ROWS, lambdaEmulator] : [ROWS, oneMachine];
const allNames = all.map(({ name }) => name);
const names = chooseNames(allNames, positionals, fail);
if (values.write && positionals.length > 0) fail('--write needs the whole table: name no rows.');
if (values.aws) {
  await enterNamespaces(import.meta.filename);
  await setUpNetwork();
}

const started = Date.now();
process.stdout.write(`${headOf(deployment.name)}\n`);
const extent = positionals.length > 0 ? 'all' : 'table';
const effort = { extent, canary: createCanary(), deployment } as const;
const done: Done[] = [];
for (const row of all.filter(({ name }) => names.includes(name))) {
  done.push(await runWithProgress(row, effort));
  process.stdout.write(`${rowText(done.at(-1)!)}\n`);
}
const failed = done.filter(({ reached }) => reached.failures.length > 0);
const skipped = done.flatMap(({ row: { name }, reached: { failures, skipped, unproven } }) => {
  const reason = skipped ?? (unproven && `not proven: ${unproven}`);
  return failures.length > 0 || reason === undefined ? [] : [{ name, reason }];
});
recordPart({
  passed: done.length - failed.length - skipped.length,
  failed: failed.map(({ row: { name }, reached }) => ({ name, reason: reached.failures[0] })),
  skipped,
});
const minutes = (Date.now() - started) / 60_000;
if (values.write) writeRows(deployment.name, minutes, done);
process.stdout.write(
  `${failed.length} targets missed, ${skipped.length} not shown, in ${minutes.toFixed(1)} minutes.\n`,
);
process.exit(failed.length === 0 ? 0 : 1);
