import { mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../build/command.ts';
import { provideKeyring, SIGNING_KEYS } from './keyring.ts';
import { findMirrors, type Mirror } from './mirrors.ts';

/** Maximum age of package lists in milliseconds. */
const FRESH = 12 * 3600_000;

/** A package source with its own lists and cache, independent of the machine's. Does not need root. */
export interface AptRoot {
  readonly directory: string;
  /** Arguments that make apt-get use this root. */
  readonly options: readonly string[];
}

/** Prepares the root of a suite below `cache` and fetches its lists unless they are recent. */
export async function openAptRoot(request: {
  readonly suite: string;
  readonly architecture: string;
  readonly cache: string;
  readonly refresh: boolean;
  /** Fingerprints of the keys that may sign the lists. */
  readonly keys?: readonly string[];
  /** See `provideKeyring`. */
  readonly installedKeyring?: string;
  progress(text: string): void;
}): Promise<AptRoot> {
  const { suite, architecture, keys = SIGNING_KEYS } = request;
  const directory = join(request.cache, `${suite}-${architecture}`);
  const root = { directory, options: optionsOf(directory, architecture) };
  const stamp = join(directory, 'fetched');
  if (!request.refresh && (await isFresh(stamp))) return root;

  for (const folder of ['lists/partial', 'archives/partial', 'debs']) {
    await mkdir(join(directory, folder), { recursive: true });
  }
  const mirrors = await findMirrors();
  const update = async (trust: string, options: readonly string[]) => {
    await writeFile(join(directory, 'sources.list'), sourcesOf(mirrors, suite, trust));
    await runCommand('apt-get', [...options, 'update']);
  };
  await provideKeyring({
    trusted: join(directory, 'trusted'),
    scratch: directory,
    ...(request.installedKeyring !== undefined && { installed: request.installedKeyring }),
    async fetchUnverified(name, into) {
      request.progress('Fetching the Debian signing keys');
      const options = [...root.options, ...unverifiedOptions(into)];
      await update('trusted=yes', options);
      await runCommand('apt-get', [...options, 'download', name], { cwd: into });
    },
  });
  request.progress(`Fetching the package lists of Debian ${suite}`);
  await update(`signed-by=${keys.join(',')}`, root.options);
  await writeFile(stamp, '');
  return root;
}

function optionsOf(directory: string, architecture: string): string[] {
  const settings = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Install-Recommends': 'false',
    // When run as root, apt downloads as another user, who cannot access this directory.
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
    // A mirror without lists for an architecture must not appear up to date.
    'APT::Update::Error-Mode': 'any',
    'Dir::Cache': directory,
    'Dir::Cache::archives': join(directory, 'archives'),
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::Etc::sourcelist': join(directory, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    // Only the pinned keys are trusted here, regardless of the keys that the machine's apt trusts.
    'Dir::Etc::trusted': '/dev/null',
    'Dir::Etc::trustedparts': join(directory, 'trusted'),
    'APT::Get::AllowUnauthenticated': 'false',
    'Acquire::AllowInsecureRepositories': 'false',
    'Acquire::AllowWeakRepositories': 'false',
    'Acquire::AllowDowngradeToInsecureRepositories': 'false',
    'Dir::State': directory,
    'Dir::State::lists': join(directory, 'lists'),
    // Pretends that nothing is installed, so that every dependency is included, down to the C library.
    'Dir::State::status': '/dev/null',
  };
  return ['-q', ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
}

/** Returns a separate list folder, so that unverified lists are never read again. */
function unverifiedOptions(directory: string): string[] {
  const settings = [
    `Dir::State::lists=${join(directory, 'lists')}`,
    'Dir::Cache::pkgcache=',
    'Dir::Cache::srcpkgcache=',
    'Acquire::AllowInsecureRepositories=true',
  ];
  return settings.flatMap((setting) => ['-o', setting]);
}

function sourcesOf(mirrors: readonly Mirror[], suite: string, trust: string): string {
  return mirrors
    .map(({ url, security }) => `deb [${trust}] ${url} ${suite}${security ? '-security' : ''} main\n`)
    .join('');
}

async function isFresh(stamp: string): Promise<boolean> {
  const age = await stat(stamp).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => Number.POSITIVE_INFINITY,
  );
  return age < FRESH;
}
