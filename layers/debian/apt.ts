import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, mkdtemp, rename, rm } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { inParallel, runCommand } from '../build/command.ts';
import { withLock } from '../build/product.ts';
import { type AptRoot, openAptRoot } from './apt-root.ts';

/** A package in a layer's manifest. */
export interface Package {
  readonly name: string;
  readonly version: string;
  readonly architecture: string;
  readonly sha256: string;
}

interface UnpackRequest {
  /** Package names. All dependencies are included unless `dependencies` is false. */
  readonly packages: readonly string[];
  readonly dependencies?: boolean;
  /** Debian suite such as `trixie`, including its security updates. */
  readonly suite: string;
  /** Debian's name of the architecture. Defaults to that of this machine. */
  readonly architecture?: string;
  /** Selects packages by name. Keeps all by default. */
  readonly keep?: (name: string) => boolean;
  /** Folder to unpack the packages into. */
  readonly into: string;
  /** Folder for lists and packages, which all layers and processes can share. */
  readonly cache: string;
  progress(text: string): void;
}

/**
 * Unpacks Debian packages without installing them, as any user, and returns the packages sorted by name.
 * @throws Error that says what to install if the machine has no apt, dpkg, archive keyring or Debian mirror.
 */
export async function unpackPackages(request: UnpackRequest): Promise<Package[]> {
  const { cache, into, progress } = request;
  await mkdir(cache, { recursive: true });
  await mkdir(into, { recursive: true });

  const found = await withLock(join(cache, 'lock'), async () => {
    try {
      return await download(request, false);
    } catch {
      // The mirror may have been updated since the lists were fetched.
      return await download(request, true);
    }
  });

  progress(`Unpacking ${found.length} packages`);
  await inParallel(found, availableParallelism(), ({ file }) => runCommand('dpkg-deb', ['-x', file, into]));
  return found
    .map(({ name, version, architecture, sha256 }) => ({ name, version, architecture, sha256 }))
    .sort((a, b) => (a.name < b.name ? -1 : 1));
}

/** Returns the newest version of each package that the suite still has, by name. */
export async function newestVersions(
  names: readonly string[],
  request: Pick<UnpackRequest, 'suite' | 'cache' | 'progress'>,
): Promise<Map<string, string>> {
  await mkdir(request.cache, { recursive: true });
  const root = await withLock(join(request.cache, 'lock'), () =>
    openAptRoot({ ...request, architecture: 'amd64', refresh: true }),
  );
  const printed = await runCommand('apt-cache', [...root.options, 'show', '--no-all-versions', ...names]);
  const found = printed.matchAll(/^Package: (\S+)\n(?:.+\n)*?Version: (\S+)$/gm);
  return new Map([...found].map(([, name, version]) => [name!, version!]));
}

interface Resolved extends Package {
  readonly file: string;
}

async function download(request: UnpackRequest, refresh: boolean): Promise<Resolved[]> {
  const { suite, cache, progress } = request;
  const architecture = request.architecture ?? (process.arch === 'x64' ? 'amd64' : process.arch);
  const root = await openAptRoot({ suite, architecture, cache, refresh, progress });
  const wanted = (await resolve(root, request)).filter(({ name }) => request.keep?.(name) ?? true);

  const present = await Promise.all(wanted.map(isPresent));
  const absent = wanted.filter((_, index) => !present[index]);
  if (absent.length > 0) progress(`Downloading packages of Debian ${suite}: 0 of ${absent.length}`);
  // Each call covers several packages, because every call of apt-get rereads the lists. Several calls run at once,
  // for speed.
  let done = 0;
  await inParallel(chunks(absent, 8), 6, async (chunk) => {
    await fetchPackages(root, chunk);
    done += chunk.length;
    progress(`Downloading packages of Debian ${suite}: ${done} of ${absent.length}`);
  });
  return wanted;
}

async function resolve(root: AptRoot, request: UnpackRequest): Promise<Resolved[]> {
  const names =
    request.dependencies === false ? request.packages : await withDependencies(root, request.packages);
  // Uses `download` because `install` would print MD5 sums.
  const planned = await runCommand('apt-get', [...root.options, '--print-uris', 'download', ...names]);
  const found = [
    ...planned.matchAll(/^'\S+' (([^_\s]+)_([^_\s]+)_([a-z0-9]+)\.deb) \d+ SHA256:([0-9a-f]{64})$/gm),
  ];
  if (found.length !== names.length)
    throw new Error(`apt-get named no SHA-256 for a package of ${names.join(' ')}.`);
  return found.map(([, fileName, name, version, architecture, sha256]) => ({
    name: name!,
    version: decodeURIComponent(version!),
    architecture: architecture!,
    sha256: sha256!,
    file: join(root.directory, 'debs', fileName!),
  }));
}

async function withDependencies(root: AptRoot, packages: readonly string[]): Promise<string[]> {
  const planned = await runCommand('apt-get', [
    ...root.options,
    '--simulate',
    '--yes',
    'install',
    ...packages,
  ]);
  return [...planned.matchAll(/^Inst (\S+) \((\S+) /gm)].map(([, name, version]) => `${name}=${version}`);
}

/** Downloads with apt, so that its proxies, transports and signatures apply, and then verifies every hash again. */
async function fetchPackages(root: AptRoot, packages: readonly Resolved[]): Promise<void> {
  const cwd = await mkdtemp(join(root.directory, 'fetching-'));
  try {
    const names = packages.map(({ name, version }) => `${name}=${version}`);
    await runCommand('apt-get', [...root.options, 'download', ...names], { cwd });
    for (const item of packages) {
      const fetched = join(cwd, item.file.slice(item.file.lastIndexOf('/') + 1));
      if ((await sha256Of(fetched)) !== item.sha256)
        throw new Error(`The hash of the package ${item.name} is wrong.`);
      await rename(fetched, item.file);
    }
  } finally {
    await rm(cwd, { recursive: true, force: true });
  }
}

async function isPresent({ file, sha256 }: Resolved): Promise<boolean> {
  return (await sha256Of(file).catch(() => undefined)) === sha256;
}

async function sha256Of(file: string): Promise<string> {
  const hash = createHash('sha256');
  await pipeline(createReadStream(file), hash);
  return hash.digest('hex');
}

function chunks<Item>(items: readonly Item[], length: number): Item[][] {
  return Array.from({ length: Math.ceil(items.length / length) }, (_, index) =>
    items.slice(index * length, (index + 1) * length),
  );
}
