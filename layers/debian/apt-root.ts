import { access, mkdir, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../build/command.ts';

const KEYRING = '/usr/share/keyrings/debian-archive-keyring.gpg';
/** Lists older than this are fetched again. */
const FRESH = 12 * 3600_000;

/** A package source apart from the machine's own: its lists, its cache, its suite. Needs no root. */
export interface AptRoot {
  readonly directory: string;
  /** Arguments that make any apt-get command work in this root. */
  readonly options: readonly string[];
}

/** Prepares the root of a suite below `cache` and fetches its lists unless they are fresh. */
export async function openAptRoot(request: {
  readonly suite: string;
  readonly architecture: string;
  readonly cache: string;
  readonly refresh: boolean;
  progress(text: string): void;
}): Promise<AptRoot> {
  const { suite, architecture } = request;
  const directory = join(request.cache, `${suite}-${architecture}`);
  const root = { directory, options: optionsOf(directory, architecture) };
  const stamp = join(directory, 'fetched');
  if (!request.refresh && (await isFresh(stamp))) return root;

  await requireKeyring();
  for (const folder of ['lists/partial', 'archives/partial', 'debs']) {
    await mkdir(join(directory, folder), { recursive: true });
  }
  const lines = (await machineMirrors()).map(
    ({ address, security }) =>
      `deb [signed-by=${KEYRING}] ${address} ${suite}${security ? '-security' : ''} main\n`,
  );
  await writeFile(join(directory, 'sources.list'), lines.join(''));
  request.progress(`Fetching the package lists of Debian ${suite}`);
  await runCommand('apt-get', [...root.options, 'update']);
  await writeFile(stamp, '');
  return root;
}

function optionsOf(directory: string, architecture: string): string[] {
  const settings = {
    'APT::Architecture': architecture,
    'APT::Architectures': architecture,
    'APT::Install-Recommends': 'false',
    // As root, apt would download as a user who may not enter our directory.
    'APT::Sandbox::User': 'root',
    'Acquire::Languages': 'none',
    'Acquire::Retries': '3',
    // A mirror that carries no list for one architecture must not pass for one that is up to date.
    'APT::Update::Error-Mode': 'any',
    'Dir::Cache': directory,
    'Dir::Cache::archives': join(directory, 'archives'),
    'Dir::Etc::preferences': '/dev/null',
    'Dir::Etc::preferencesparts': '/dev/null',
    'Dir::Etc::sourcelist': join(directory, 'sources.list'),
    'Dir::Etc::sourceparts': '/dev/null',
    'Dir::State': directory,
    'Dir::State::lists': join(directory, 'lists'),
    // Nothing counts as installed: every dependency down to the C library is ours.
    'Dir::State::status': '/dev/null',
  };
  return ['-q', ...Object.entries(settings).flatMap(([name, value]) => ['-o', `${name}=${value}`])];
}

interface Mirror {
  readonly address: string;
  readonly security: boolean;
}

/** The Debian mirrors this machine itself uses, whatever its own release: the archive, and security where it has one. */
async function machineMirrors(): Promise<Mirror[]> {
  const planned = await runCommand('apt-get', ['update', '--print-uris']);
  const found = [...planned.matchAll(/^'(\S+\/debian(-security)?)\/dists\/[^/']+\/InRelease'/gm)].map(
    ([, address, security]) => ({ address: address!, security: security !== undefined }),
  );
  const archive = found.find((mirror) => !mirror.security);
  const security = found.find((mirror) => mirror.security);
  if (archive) return security ? [archive, security] : [archive];
  throw new Error(
    'This machine has no Debian mirror among its apt sources, and the layers are built from Debian packages: ' +
      'build on Debian 12 or later, or add a Debian mirror of your choice to the apt sources.',
  );
}

async function requireKeyring(): Promise<void> {
  await access(KEYRING).catch((cause: unknown) => {
    throw new Error(`${KEYRING} is needed and was not found: install the package 'debian-archive-keyring'.`, {
      cause,
    });
  });
}

async function isFresh(stamp: string): Promise<boolean> {
  const age = await stat(stamp).then(
    ({ mtimeMs }) => Date.now() - mtimeMs,
    () => Number.POSITIVE_INFINITY,
  );
  return age < FRESH;
}
