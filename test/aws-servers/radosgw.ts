import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { promisify } from 'node:util';
import { CreateBucketCommand, S3Client, type S3ClientConfig } from '@aws-sdk/client-s3';
import { buildOnce, cacheOf } from '../../layers/build/product.ts';
import { unpackPackages } from '../../layers/debian/apt.ts';
import { freePort } from '../helpers/free-port.ts';

const TRIPLET = process.arch === 'arm64' ? 'aarch64-linux-gnu' : 'x86_64-linux-gnu';
const LOADER = process.arch === 'arm64' ? 'ld-linux-aarch64.so.1' : 'ld-linux-x86-64.so.2';

/** Settings of an SDK client for the gateway. */
export type RadosGateway = Awaited<ReturnType<typeof startRadosGateway>>;

/** Starts a gateway on a free port, without a cluster, root or installation, and creates one bucket in it. */
export async function startRadosGateway(bucket: string) {
  const tree = await buildRadosGateway((text) => process.stderr.write(`${text}\n`));
  const directory = await mkdtemp(join(tmpdir(), 'radosgw-'));
  const port = await freePort();
  const endpoint = `http://127.0.0.1:${port}`;
  const credentials = { accessKeyId: 'TESTACCESSKEY', secretAccessKey: 'test-secret-key' };
  await writeFile(join(directory, 'ceph.conf'), configuration(tree, directory, port));

  const user = ['--uid=test', '--display-name=test'];
  const secrets = [`--access-key=${credentials.accessKeyId}`, `--secret-key=${credentials.secretAccessKey}`];
  const admin = command(tree, directory, 'radosgw-admin', ['user', 'create', ...user, ...secrets]);
  // It sometimes finishes its work but does not exit.
  const limit = { timeout: 60_000, killSignal: 'SIGKILL' } as const;
  await promisify(execFile)(admin.file, admin.args, { env: { HOME: directory }, ...limit }).catch(
    (error: { stdout?: string }) => {
      if (!error.stdout?.includes(credentials.accessKeyId)) throw error;
    },
  );

  const { file, args } = command(tree, directory, 'radosgw', ['-f']);
  const child = spawn(file, args, { env: { HOME: directory }, stdio: 'ignore' });
  const config: S3ClientConfig = { endpoint, region: 'us-east-1', credentials, forcePathStyle: true };
  const client = new S3Client(config);
  const close = async () => {
    client.destroy();
    await end(child);
    await rm(directory, { recursive: true, force: true });
  };
  try {
    await answering(endpoint, child);
    await client.send(new CreateBucketCommand({ Bucket: bucket }));
  } catch (error) {
    await close();
    throw error;
  }
  return { endpoint, credentials, config, client, bucket, close };
}

/** Any program of the tree, through the tree's own loader and libraries. */
function command(tree: string, directory: string, program: string, args: readonly string[]) {
  const libraries = join(tree, 'usr/lib', TRIPLET);
  const path = [libraries, join(libraries, 'ceph')].join(':');
  const common = ['-c', join(directory, 'ceph.conf'), '--no-mon-config', '-n', 'client.rgw'];
  const start = ['--library-path', path, join(tree, 'usr/bin', program)];
  return { file: join(libraries, LOADER), args: [...start, ...common, ...args] };
}

function configuration(tree: string, directory: string, port: number): string {
  const libraries = join(tree, 'usr/lib', TRIPLET);
  return `[global]
auth_cluster_required = none
auth_service_required = none
auth_client_required = none
plugin_dir = ${libraries}/rados-classes
erasure_code_dir = ${libraries}/ceph/erasure-code
run_dir = ${directory}
admin_socket = ${directory}/$name.$pid.asok
log_file = ${directory}/radosgw.log
rgw_data = ${directory}
rgw_backend_store = dbstore
rgw_config_store = dbstore
dbstore_db_dir = ${directory}
dbstore_config_uri = file:${directory}/config.db
[client.rgw]
rgw_frontends = beast endpoint=127.0.0.1:${port}
`;
}

async function answering(endpoint: string, child: ChildProcess): Promise<void> {
  const deadline = Date.now() + 120_000;
  while (Date.now() < deadline && child.exitCode === null) {
    if (await fetch(endpoint).catch(() => undefined)) return;
    await setTimeout(50);
  }
  throw new Error('The RADOS Gateway did not start.');
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGKILL');
  await exited;
}

const PINS = { suite: 'trixie', packages: ['radosgw'] } as const;

/** Unpacks Ceph's RADOS Gateway, a real S3 that checks signatures, and returns its folder. Installs nothing. */
export async function buildRadosGateway(progress: (text: string) => void): Promise<string> {
  const into = join(import.meta.dirname, '../../dist/test/radosgw');
  await buildOnce({ into, progress }, PINS, async (directory) => {
    await unpackPackages({ ...PINS, into: directory, cache: join(cacheOf(into), 'apt'), progress });
  });
  return into;
}
