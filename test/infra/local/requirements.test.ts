import { mkdirSync, mkdtempSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';

const {
  isSetUp,
  isUnchanged,
  markSetUp,
  measureMachine,
  unmetLibrary,
  unmetNamespaces,
  unmetPrograms,
  unmetRequirement,
  unmetSpace,
} = await import(join(import.meta.dirname, '../../../infra/local/requirements.mjs'));

const MACHINE = {
  platform: 'linux',
  arch: 'x64',
  node: '20.0.0',
  glibc: '2.28',
  memory: 1.9e9,
  disk: 3e9,
  directory: '/opt',
};

describe('the requirements', () => {
  it('are met by the smallest machine that is supported, and by this one', () => {
    expect([unmetRequirement(MACHINE), unmetSpace(MACHINE)]).toEqual([undefined, undefined]);
    expect(unmetRequirement(measureMachine('/tmp'))).toBeUndefined();
  });

  it.each([
    [{ platform: 'darwin' }, 'docmill needs Linux; this is macOS.'],
    [{ arch: 'arm64' }, 'docmill needs x86-64, because Chromium is only available for it; this is arm64.'],
    [{ node: '18.20.4' }, 'docmill needs Node 20 or newer; this is v18.20.4.'],
    [
      { glibc: undefined },
      "docmill needs glibc 2.28 or newer; this Linux has another C library. Run 'npm start -- --container'.",
    ],
    [
      { glibc: '2.17' },
      "docmill needs glibc 2.28 or newer; this Linux has 2.17. Run 'npm start -- --container'.",
    ],
    [{ memory: 1e9 }, 'docmill needs 2 GB of memory; this machine has 1.0 GB.'],
  ])('are not met by %j', (more, message) => {
    expect(unmetRequirement({ ...MACHINE, ...more })).toBe(message);
  });

  it('say something else where a container does not serve, such as for the build for AWS', () => {
    const instead = 'install and start docker';

    expect(unmetLibrary({ glibc: '2.28' }, instead)).toBeUndefined();
    expect(unmetLibrary({}, instead)).toMatch(/has another C library\. Install and start docker\.$/);
    expect(unmetPrograms('/nowhere', instead)).toMatch(/and gpgv, or install and start docker\.$/);
  });

  it('leave out programs and space once everything is installed', () => {
    const checkout = mkdtempSync(join(tmpdir(), 'set-up-'));
    const before = isSetUp(checkout);
    mkdirSync(join(checkout, 'dist/layers/libreoffice'), { recursive: true });
    mkdirSync(join(checkout, 'node_modules'));
    writeFileSync(join(checkout, 'node_modules/.package-lock.json'), '');

    expect([before, isSetUp(checkout)]).toEqual([false, true]);
    rmSync(checkout, { recursive: true });
  });

  it('are not checked again until a file of the set-up changes, whatever its date says', async () => {
    const checkout = mkdtempSync(join(tmpdir(), 'set-up-'));
    for (const folder of [
      'layers/pdf',
      'functions',
      'infra/local',
      'node_modules',
      'dist/layers',
      'dist/site',
    ])
      mkdirSync(join(checkout, folder), { recursive: true });
    const files = ['package-lock.json', 'layers/pdf/build.ts', 'infra/local/setup.mjs'];
    for (const file of files) writeFileSync(join(checkout, file), '');
    const before = isUnchanged(checkout);
    markSetUp(checkout);
    const after = isUnchanged(checkout);
    // Later than the clock tick of the file system.
    await setTimeout(20);
    utimesSync(join(checkout, 'layers/pdf/build.ts'), 0, 0);

    expect([before, after, isUnchanged(checkout)]).toEqual([false, true, false]);
    markSetUp(checkout);
    rmSync(join(checkout, 'dist/layers'), { recursive: true });
    expect(isUnchanged(checkout)).toBe(false);
    rmSync(checkout, { recursive: true });
  });

  it('name the directory and the free space if that is too little', () => {
    expect(unmetSpace({ ...MACHINE, disk: 2.94e9 })).toBe(
      'The set-up needs 3 GB of free disk space in /opt, but only 2.9 GB are free. Free some space, or set BUILD_DIR to a directory on another disk.',
    );
  });

  it('name the programs that a Linux without apt lacks, and offer the container', () => {
    const folder = mkdtempSync(join(tmpdir(), 'programs-'));
    const install = (name: string) => writeFileSync(join(folder, name), '', { mode: 0o755 });
    const missing = () => unmetPrograms(`/nowhere:${folder}`);
    const message = (names: string, packages: string) =>
      `The engines are unpacked from Debian packages, which needs ${names}. Install ${packages}, or run 'npm start -- --container'.`;

    expect(missing()).toBe(message('apt-get, dpkg-deb and gpgv', 'apt, dpkg and gpgv'));
    install('apt-get');
    expect(missing()).toBe(message('dpkg-deb and gpgv', 'dpkg and gpgv'));
    install('dpkg-deb');
    expect(missing()).toBe(message('gpgv', 'gpgv'));
    install('sqv');
    expect(missing()).toBeUndefined();
    rmSync(folder, { recursive: true });
  });

  it.each([
    ['kernel/apparmor_restrict_unprivileged_userns', '1', 'kernel.apparmor_restrict_unprivileged_userns=0'],
    ['kernel/unprivileged_userns_clone', '0', 'kernel.unprivileged_userns_clone=1'],
    ['user/max_user_namespaces', '0', 'user.max_user_namespaces=10000'],
  ])('name the command for a kernel where %s is %s', (name, value, assignment) => {
    const settings = mkdtempSync(join(tmpdir(), 'settings-'));
    mkdirSync(dirname(join(settings, name)));
    writeFileSync(join(settings, name), `${value}\n`);
    const unmet = (user: object) => unmetNamespaces({ isRoot: false, ...user }, settings);

    expect(unmet({})).toBe(
      `Chromium's own sandbox needs user namespaces, which this machine denies to ordinary users. Run 'sudo sysctl -w ${assignment}' to allow them, or start docmill with SANDBOX=best-effort to run Chromium without it.`,
    );
    expect([unmet({ isRoot: true }), unmet({ sandbox: 'best-effort' })]).toEqual([undefined, undefined]);
    expect(unmetNamespaces({ isRoot: false }, join(settings, 'none'))).toBeUndefined();
    rmSync(settings, { recursive: true });
  });
});
