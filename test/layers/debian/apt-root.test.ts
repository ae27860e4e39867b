import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findMirrors } from '../../../layers/debian/apt-root.ts';

const index = (url: string) => `'${url}/InRelease' some_list 0 \n`;
const noIndexes = async () => index('http://archive.example.com/ubuntu/dists/noble');

describe('findMirrors', () => {
  beforeEach(() => void vi.stubEnv('DEBIAN_MIRROR', undefined));
  afterEach(() => void vi.unstubAllEnvs());

  it("uses the Debian mirrors in the machine's own apt sources", async () => {
    const indexes = ['bookworm', 'bookworm-updates'].map((suite) =>
      index(`https://mirror.example.com/debian/dists/${suite}`),
    );
    const security = index('https://mirror.example.com/debian-security/dists/bookworm-security');

    const mirrors = await findMirrors(undefined, async () => indexes.join('') + security);

    expect(mirrors).toEqual([
      { url: 'https://mirror.example.com/debian', security: false },
      { url: 'https://mirror.example.com/debian-security', security: true },
    ]);
  });

  it('prefers the mirrors named in DEBIAN_MIRROR', async () => {
    const setting = 'https://one.example.com/debian/, https://one.example.com/debian-security';

    const mirrors = await findMirrors(setting, () => Promise.reject(new Error('not asked')));

    expect(mirrors).toEqual([
      { url: 'https://one.example.com/debian', security: false },
      { url: 'https://one.example.com/debian-security', security: true },
    ]);
  });

  it('counts an empty DEBIAN_MIRROR as absent', async () => {
    vi.stubEnv('DEBIAN_MIRROR', '');

    const mirrors = await findMirrors(undefined, async () =>
      index('https://mirror.example.com/debian/dists/bookworm'),
    );

    expect(mirrors).toEqual([{ url: 'https://mirror.example.com/debian', security: false }]);
  });

  it('suggests the command to type if the machine has no Debian mirror', async () => {
    await expect(findMirrors(undefined, noIndexes)).rejects.toThrow('DEBIAN_MIRROR=<URL>/debian');
  });

  it.each(['mirror.example.com/debian', 'ftp://mirror.example.com/debian', 'https://a.example/debian,'])(
    'rejects DEBIAN_MIRROR=%s',
    async (setting) => {
      await expect(findMirrors(setting, noIndexes)).rejects.toThrow('DEBIAN_MIRROR must be');
    },
  );
});
