import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

/** Name of the socket that shows that the owner of a directory is running. */
const SOCKET = 'alive';
/**
 * Milliseconds after which a directory without a socket counts as abandoned. A starting server creates its socket
 * immediately.
 */
const GRACE = 60_000;

/**
 * Creates a folder below `parent` for files that this process deletes when it exits, and removes the folders of processes
 * that were killed. Process IDs cannot show this, because servers in different containers may share /tmp.
 */
export async function makeTemporary(parent: string): Promise<string> {
  for (const name of await readdir(parent)) {
    const owner = /^docmill-(\d+)-\w{6}$/.exec(name)?.[1];
    const path = join(parent, name);
    // Directories of other users are left alone.
    if (owner && (await isAbandoned(path, Number(owner)))) {
      await rm(path, { recursive: true, force: true }).catch(() => {});
    }
  }
  const directory = await mkdtemp(join(parent, `docmill-${process.pid}-`));
  await listen(join(directory, SOCKET));
  return directory;
}

async function isAbandoned(directory: string, owner: number): Promise<boolean> {
  if (existsSync(join(directory, SOCKET))) return !(await isListening(join(directory, SOCKET)));
  const stats = await stat(directory).catch(() => undefined);
  const age = Date.now() - (stats?.mtimeMs ?? Date.now());
  return !existsSync(`/proc/${owner}`) && age > GRACE;
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

/** Socket paths are limited to 107 bytes. For longer ones, only the process ID in the directory's name is checked. */
async function listen(path: string): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  await new Promise<void>((resolve) => {
    server.once('error', () => resolve());
    server.listen(path, resolve);
  });
}
