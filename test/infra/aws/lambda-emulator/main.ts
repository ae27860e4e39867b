// Runs a command against the Lambda emulator on this machine: `node main.ts -- npx vitest run …`, with BASE_URL and API_KEY set.
// `--inside` only enters the emulator's network and runs the command there, which starts emulators of its own;
// `--measure` prints sizes and times instead.
import { spawn } from 'node:child_process';
import { parseArgs } from 'node:util';
import { startShape } from './emulator.ts';
import { measure } from './measure.ts';
import { startForwarding } from './network.ts';
import { enterWorld } from './world.ts';

const { values, positionals } = parseArgs({
  options: {
    verbose: { type: 'boolean', default: false },
    measure: { type: 'boolean', default: false },
    inside: { type: 'boolean', default: false },
  },
  allowPositionals: true,
});

await enterWorld(import.meta.filename);
const stopForwarding = await startForwarding();
const log = (line: string) => {
  if (values.verbose) process.stderr.write(`${line}\n`);
};
if (values.inside) {
  const [inside, ...rest] = positionals;
  spawn(inside ?? 'sh', rest, { stdio: 'inherit' }).once('exit', (code) => process.exit(code ?? 1));
  await new Promise(() => {});
}
const shape = await startShape({ log });
process.stdout.write(`The Lambda emulator answers at ${shape.base}/api/\n`);
if (values.measure) {
  await measure(shape, (line) => process.stdout.write(`${line}\n`));
  await shape.close();
  process.exit(0);
}
const [command, ...args] = positionals;
const child = spawn(command ?? 'sh', args, {
  stdio: 'inherit',
  env: { ...process.env, BASE_URL: shape.base, API_KEY: shape.apiKey, SOURCES_HOST: '5.6.{high}.{low}' },
});
child.once('exit', async (code) => {
  for (const [name, { started, memory }] of shape.functions) {
    if (started > 0)
      process.stdout.write(`${name}: ${started} sandboxes, at most ${Math.round(memory)} MiB\n`);
  }
  await shape.close();
  stopForwarding();
  process.exit(code ?? 1);
});
