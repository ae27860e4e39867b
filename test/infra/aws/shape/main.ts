// Runs a command against the AWS shape on this machine: `node main.ts -- npx vitest run …`, with BASE_URL and API_KEY set;
// `node main.ts --measure` prints sizes and times instead.
import { spawn, spawnSync } from 'node:child_process';
import { parseArgs } from 'node:util';
import { measure } from './measure.ts';
import { prepareNetwork, startForwarding } from './network.ts';
import { startShape } from './shape.ts';

const INSIDE = 'DOCMILL_SHAPE';
const NAMESPACES = [
  '--user',
  '--map-root-user',
  '--net',
  '--mount',
  '--mount-proc',
  '--pid',
  '--fork',
  '--kill-child',
];

const { values, positionals } = parseArgs({
  options: { verbose: { type: 'boolean', default: false }, measure: { type: 'boolean', default: false } },
  allowPositionals: true,
});

if (process.env[INSIDE]) await inside();
else outside();

/** Builds what needs a network, then starts anew in a network and a process space of its own. */
function outside(): void {
  const possible = spawnSync('unshare', [...NAMESPACES, 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  });
  if (possible.status !== 0) {
    process.stderr.write(
      `\n*** SKIPPED: the AWS shape needs user namespaces, util-linux and iproute2, which this machine does not give:\n*** ${possible.stderr || possible.error}\n\n`,
    );
    process.exit(0);
  }
  for (const script of ['../../../../infra/aws/build.ts', 'prepare.ts']) {
    const { status } = spawnSync(process.execPath, [new URL(script, import.meta.url).pathname], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(1);
  }
  const again = spawn(
    'unshare',
    [...NAMESPACES, process.execPath, import.meta.filename, ...process.argv.slice(2)],
    {
      stdio: 'inherit',
      env: { ...process.env, [INSIDE]: '1' },
    },
  );
  again.once('exit', (code) => process.exit(code ?? 1));
}

async function inside(): Promise<void> {
  prepareNetwork();
  const stopForwarding = await startForwarding();
  const log = (line: string) => {
    if (values.verbose) process.stderr.write(`${line}\n`);
  };
  const shape = await startShape(log);
  process.stdout.write(`The AWS shape answers at ${shape.base}/api/\n`);
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
}
