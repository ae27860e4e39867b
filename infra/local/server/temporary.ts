import { existsSync } from 'node:fs';
import { mkdtemp, readdir, rm, stat } from 'node:fs/promises';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';

/** The name of the socket that shows that the server which owns a directory is running. */
const SOCKET = 'alive';
/** Milliseconds after which a directory without a socket counts as abandoned: one that starts creates it at once. */
const GRACE = 60_000;

/**
 * Creates a folder below `parent` for files that this process deletes when it exits, and removes the folders of processes
 * that were killed. Process ids do not tell: servers in different containers may share /tmp.
 */
export async function makeTemporary(parent: string): Promise<string> {
  for (const name of await readdir(parent)) {
    const owner = /^docmill-(\d+)-\w{6}$/.exec(name)?.[1];
    const path = join(parent, name);
    // Another user's directory stays: it is not ours to remove.
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
    // Only a socket without a process refuses; a busy or foreign one fails in other ways.
    socket.once('error', (error: NodeJS.ErrnoException) => resolve(error.code !== 'ECONNREFUSED'));
  });
}

/** Paths of sockets are limited to 107 bytes; a directory with a longer one is told by its process id alone. */
async function listen(path: string): Promise<void> {
  const server = createServer((socket) => socket.destroy());
  server.unref();
  await new Promise<void>((resolve) => {
    server.once('error', () => resolve());
    server.listen(path, resolve);
  });
}
