import { textSetting } from '../../functions/shared/settings/environment.ts';
import { runCommand } from '../build/command.ts';

/** A Debian mirror: the main archive or the security archive. */
export interface Mirror {
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
