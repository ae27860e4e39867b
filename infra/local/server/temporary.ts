import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { killOrphans } from '../../../functions/engines/worker/linux/orphans.ts';

/** Name of the socket that shows that the owner of a directory is running. */
const SOCKET = 'alive';
/**
 * How long a directory without a socket may exist before it counts as abandoned, in milliseconds. A starting server
 * creates its socket immediately.
 */
const TEMPORARY_GRACE = 60_000;
/** Retries, because a process that was just killed may still be writing. */
const REMOVAL = { recursive: true, force: true, maxRetries: 10, retryDelay: 20 } as const;

/**
 * Creates a folder below `parent` for files that this process deletes when it exits, and removes the folders of
 * processes that were killed. Process IDs cannot identify those, because servers in different containers may share
 * /tmp.
 */
export async function makeTemporary(parent: string): Promise<string> {
  for (const name of await readdir(parent)) {
    const owner = /^docmill-(\d+)-\w{6}$/.exec(name)?.[1];
    const path = join(parent, name);
    // Directories of other users are not touched.
    if (owner && (await isAbandoned(path, Number(owner)))) await removeAbandoned(path).catch(() => {});
  }
  const directory = await mkdtemp(join(parent, `docmill-${process.pid}-`));
  await listen(join(directory, SOCKET));
  return directory;
}

/**
 * Removes the folder of a process that was killed. Its engines notice that after a second, and would create files
 * again until then. The socket is deleted last, because without it, a remaining folder would not be recognized for a
 * minute.
 */
async function removeAbandoned(directory: string): Promise<void> {
  const names = (await readdir(directory)).filter((name) => name !== SOCKET);
  await Promise.all(names.map((name) => killOrphans(join(directory, name))));
  await Promise.all(names.map((name) => rm(join(directory, name), REMOVAL)));
  await rm(directory, REMOVAL);
}

async function isAbandoned(directory: string, owner: number): Promise<boolean> {
  if (existsSync(join(directory, SOCKET))) return !(await isListening(join(directory, SOCKET)));
  const stats = await stat(directory).catch(() => undefined);
  const age = Date.now() - (stats?.mtimeMs ?? Date.now());
  return !existsSync(`/proc/${owner}`) && age > TEMPORARY_GRACE;
}

function isListening(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path, () => {
      socket.destroy();
      resolve(true);
    });
    // Only a socket without a process refuses connections. A busy one, or one of another user, fails in other ways.
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
}

/**
 * Listens on a socket, whose path is limited to 107 bytes. For longer paths, only the process ID in the directory's
 * name is checked.
 */
async function listen(path: string): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  await new Promise<void>((resolve) => {
    server.once('error', () => resolve());
    server.listen(path, resolve);
  });
}

/** Removes the folder of this process. Nothing may be writing to it any more. */
export async function removeTemporary(directory: string): Promise<void> {
  await rm(directory, REMOVAL);
}

const ROOT = join(import.meta.dirname, '../../..');

/** The service's scripts and packages on this machine. `package.json` tells Node that the scripts are ES modules. */
export const CODE = ['functions', 'node_modules', 'package.json'].map((name) => join(ROOT, name));
