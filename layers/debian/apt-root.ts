import { access, copyFile, mkdir, mkdtemp, readdir, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { textSetting } from '../../functions/shared/settings/environment.ts';
import { runCommand } from '../build/command.ts';

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

/** A Debian mirror: the main archive or the security archive. */
interface Mirror {
  readonly url: string;
  readonly security: boolean;
}

/**
 * Returns the mirrors to download packages from: those in `DEBIAN_MIRROR` (comma-separated), or else those in this
 * machine's own apt sources. There is no built-in default, because the choice is up to the operator.
 * @throws Error with the command to type if there is neither.
 */
export async function findMirrors(
  setting = textSetting('DEBIAN_MIRROR', undefined),
  listIndexes = () => runCommand('apt-get', ['update', '--print-uris']),
): Promise<Mirror[]> {
  if (setting !== undefined) return setting.split(',').map((entry) => readMirror(entry.trim()));
  const planned = await listIndexes();
  const found = [...planned.matchAll(/^'(\S+\/debian(-security)?)\/dists\/[^/']+\/InRelease'/gm)].map(
    ([, url, security]) => ({ url: url!, security: security !== undefined }),
  );
  const archive = found.find((mirror) => !mirror.security);
  const security = found.find((mirror) => mirror.security);
  if (archive) return security ? [archive, security] : [archive];
  throw new Error(
    'The layers are built from Debian packages, and this machine has no Debian mirror in its apt sources. ' +
      'Name one, and its security archive if it has one: DEBIAN_MIRROR=<URL>/debian,<URL>/debian-security npm start',
  );
}

function readMirror(text: string): Mirror {
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) {
    throw new Error(`DEBIAN_MIRROR must be a comma-separated list of http or https URLs, got '${text}'.`);
  }
  const plain = url.href.replace(/\/+$/, '');
  return { url: plain, security: plain.endsWith('-security') };
}

/**
 * Keys that sign Debian 13 (trixie): the archive, its security updates and the stable release, of Debian 12 and 13.
 * Source: the package debian-archive-keyring 2025.1, also published by Debian's FTP team. apt accepts a release file
 * only if one of these keys signed it, wherever the keyring came from.
 */
const SIGNING_KEYS = [
  'B8B80B5B623EAB6AD8775C45B7C5D7D6350947F8',
  '05AB90340C0C5E797F44A8C8254CF3B5AEC0A8F0',
  '4D64FEC119C2029067D6E791F8D2585B8783D481',
  '04B54C3CDCA79751B16BC6B5225629DF75B188BD',
  '5E04A1E3223A19A20706E20F9904613D4CCE68C6',
  '41587F7DB8C774BCCF131416762F67A0B2C39DE4',
] as const;

const PACKAGE = 'debian-archive-keyring';
const INSTALLED = `/usr/share/keyrings/${PACKAGE}.gpg`;

/**
 * Puts Debian's keyring into `trusted`: the installed one, or else the one in the mirror's own keyring package. That
 * package is fetched unverified, which is safe because only keys with a pinned fingerprint are accepted.
 */
async function provideKeyring(request: {
  readonly trusted: string;
  readonly scratch: string;
  /** Path of the machine's own keyring, if it has one. */
  readonly installed?: string;
  /** Fetches a package from the mirror without verifying it, into `directory`. */
  fetchUnverified(name: string, directory: string): Promise<void>;
}): Promise<void> {
  const { trusted, scratch, installed = INSTALLED, fetchUnverified } = request;
  await mkdir(trusted, { recursive: true });
  const into = join(trusted, 'debian.gpg');
  if (await exists(installed)) return copyFile(installed, into);

  const directory = await mkdtemp(join(scratch, 'keyring-'));
  try {
    await fetchUnverified(PACKAGE, directory);
    const file = (await readdir(directory)).find((name) => name.endsWith('.deb'));
    if (file === undefined) throw new Error(`The mirror has no package '${PACKAGE}'.`);
    await runCommand('dpkg-deb', ['-x', join(directory, file), directory]);
    await copyFile(join(directory, INSTALLED), into);
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

async function exists(file: string): Promise<boolean> {
  return access(file).then(
    () => true,
    () => false,
  );
}
