import { spawn, spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Effort, Reached, Row } from '../row.ts';

/** A line of output from a row that runs in a network namespace. */
export type NamespaceMessage =
  | { readonly progress: readonly [done: number, total: number] }
  | { readonly reached: Reached; readonly inspected: number; readonly found: readonly string[] };

const MAIN = fileURLToPath(new URL('./main.ts', import.meta.url));
const UNSHARE = ['--user', '--map-root-user', '--net', '--mount'];

/**
 * A network without connection to the outside, in which this machine owns every address, so that each connection
 * is counted. The link-local addresses of clouds and the name server are local too.
 */
export const SET_UP_NETWORK = `set -e
ip link set lo up
# Something that looks like a network: WebRTC does nothing on a machine that has loopback alone.
ip link add eth0 type veth peer name eth1
ip addr add 10.77.0.2/24 dev eth0
ip link set eth0 up
ip link set eth1 up
ip addr add 169.254.100.1/32 dev lo
ip addr add 169.254.169.254/32 dev lo
ip route add local 0.0.0.0/0 dev lo
ip -6 route add local ::/0 dev lo || true
mount --bind "$1" /etc/resolv.conf
shift
exec "$@"`;

/** Creates a row that runs in its own network namespace. `module` exports `inside`, the attack. */
export function inOwnNamespace(row: Omit<Row, 'run'>, module: string): Row {
  return { ...row, run: (effort) => effort.deployment.inNamespace(module, effort) };
}

/** Runs `inside` of a module in another process, which has its own network namespace. */
export async function runInNamespace(module: string, effort: Effort): Promise<Reached> {
  const directory = await mkdtemp(join(tmpdir(), 'namespace-'));
  const resolver = join(directory, 'resolv.conf');
  writeFileSync(resolver, 'nameserver 127.0.0.1\n');
  const setUp = ['sh', '-c', SET_UP_NETWORK, 'set-up', resolver];
  try {
    if (spawnSync('unshare', [...UNSHARE, ...setUp, 'true']).status !== 0) {
      const skipped = 'this machine does not support network namespaces (unshare, ip, mount)';
      return { figure: 'not run', failures: [], skipped };
    }
    const args = [...UNSHARE, ...setUp, process.execPath, MAIN, module, effort.extent];
    return await listen(args, directory, effort);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

function listen(args: readonly string[], directory: string, effort: Effort): Promise<Reached> {
  const env = { ...process.env, TMPDIR: directory };
  const child = spawn('unshare', args, { env, stdio: ['ignore', 'inherit', 'inherit', 'pipe'] });
  return new Promise((resolve, reject) => {
    createInterface({ input: child.stdio[3] as NodeJS.ReadableStream }).on('line', (line) => {
      const message = JSON.parse(line) as NamespaceMessage;
      if ('progress' in message) return effort.progress(...message.progress);
      effort.canary.add(message);
      resolve(message.reached);
    });
    child.once('error', reject);
    child.once('exit', (code) => reject(new Error(`The attack ended without a result: ${code}.`)));
  });
}
