import { access, copyFile, mkdir, mkdtemp, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { runCommand } from '../build/command.ts';

/**
 * Keys that sign Debian 13 (trixie): the archive, its security updates and the stable release, of Debian 12 and 13.
 * Source: the package debian-archive-keyring 2025.1, also published by Debian's FTP team. apt accepts a release file
 * only if one of these keys signed it, wherever the keyring came from.
 */
export const SIGNING_KEYS = [
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
export async function provideKeyring(request: {
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
