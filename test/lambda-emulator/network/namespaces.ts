import { spawn, spawnSync } from 'node:child_process';
import { basename } from 'node:path';
import { textSetting } from '../../../functions/shared/settings/environment.ts';
import { recordPart } from '../../run/results.ts';
import { prepareNetwork } from './network.ts';

const INSIDE = 'DOCMILL_EMULATOR';
export const NAMESPACES = [
  '--user',
  '--map-root-user',
  '--net',
  '--mount',
  '--mount-proc',
  '--pid',
  '--fork',
  '--kill-child',
];

/**
 * Returns inside separate network and process namespaces. Outside of them, it first builds what needs a network, then
 * starts the program again inside, and exits with its code.
 */
export async function enterNamespaces(program: string): Promise<void> {
  if (textSetting(INSIDE, undefined) !== undefined) return prepareNetwork();
  const possible = spawnSync('unshare', [...NAMESPACES, 'ip', 'link', 'set', 'lo', 'up'], {
    encoding: 'utf8',
  });
  if (possible.status !== 0) {
    const reason = 'needs user namespaces, util-linux and iproute2';
    process.stderr.write(`\n*** SKIPPED: ${reason}\n*** ${possible.stderr || possible.error}\n\n`);
    recordPart({ passed: 0, failed: [], skipped: [{ name: basename(program), reason }] });
    process.exit(0);
  }
  for (const script of ['../../../infra/aws/build/build.ts', '../prepare.ts']) {
    const { status } = spawnSync(process.execPath, [new URL(script, import.meta.url).pathname], {
      stdio: 'inherit',
    });
    if (status !== 0) process.exit(1);
  }
  // The shell stays as the first process and collects orphans, as an init does.
  const first = ['sh', '-c', '"$@"; exit $?', 'init'];
  const args = [...NAMESPACES, ...first, process.execPath, program, ...process.argv.slice(2)];
  const again = spawn('unshare', args, { stdio: 'inherit', env: { ...process.env, [INSIDE]: '1' } });
  const code = await new Promise<number | null>((resolve) => again.once('exit', resolve));
  process.exit(code ?? 1);
}
