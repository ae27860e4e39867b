// Runs a command against the Lambda emulator on this machine: `node main.ts -- npx vitest run …`, with
// BASE_URL and API_KEY set. `--inside` only enters the emulator's network and runs the command there, which
// starts emulators of its own; `--measure` prints sizes and times instead. With `--shares` each function gets the share of the processors
// that Lambda gives for its memory, which needs the right to create control groups. With `--cold-files`, the code and the layers of a
// function are not in the page cache when it is measured cold.
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { startEmulator } from './emulator.ts';
import { measure } from './measure.ts';
import { enterNamespaces, startForwarding } from './network.ts';

const { values, positionals } = parseArgs({
  options: {
    verbose: { type: 'boolean', default: false },
    measure: { type: 'boolean', default: false },
    shares: { type: 'boolean', default: false },
    'cold-files': { type: 'boolean', default: false },
    inside: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

await enterNamespaces(import.meta.filename);
const stopForwarding = await startForwarding();
const log = (line: string) => {
  if (values.verbose) process.stderr.write(`${line}\n`);
};
if (values.inside) {
  const [inside, ...rest] = positionals;
  spawn(inside ?? 'sh', rest, { stdio: 'inherit' }).once('exit', (code) => process.exit(code ?? 1));
  await new Promise(() => {});
}
const emulator = await startEmulator({ log, processorShares: values.shares });
process.stdout.write(`The Lambda emulator answers at ${emulator.base}/api/\n`);
if (values.measure) {
  const options = { coldFiles: values['cold-files'], processorShares: values.shares };
  await measure(emulator, (line) => process.stdout.write(`${line}\n`), options);
  await emulator.close();
  process.exit(0);
}
const [command, ...args] = positionals;
const child = spawn(command ?? 'sh', args, {
  stdio: 'inherit',
  env: {
    ...process.env,
    BASE_URL: emulator.base,
    API_KEY: emulator.apiKey,
    SOURCES_HOST: '5.6.{high}.{low}',
  },
});
child.once('exit', async (code) => {
  for (const [name, { started, memory }] of emulator.functions) {
    if (started > 0)
      process.stdout.write(`${name}: ${started} sandboxes, at most ${Math.round(memory)} MiB\n`);
  }
  await emulator.close();
  stopForwarding();
  process.exit(code ?? 1);
});
