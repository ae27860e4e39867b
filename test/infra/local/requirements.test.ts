import { join } from 'node:path';
import { describe, expect, it } from 'vitest';

const { measureMachine, unmetPrograms, unmetRequirement, unmetSpace } = await import(
  join(import.meta.dirname, '../../../infra/local/requirements.mjs')
);

const MACHINE = {
  platform: 'linux',
  arch: 'x64',
  node: '20.0.0',
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
    [{ platform: 'darwin' }, 'docmill needs Linux; this is darwin.'],
    [{ arch: 'arm64' }, 'docmill needs x86-64, because Chromium is only available for it; this is arm64.'],
    [{ node: '18.20.4' }, 'docmill needs Node 20 or newer; this is v18.20.4.'],
    [{ memory: 1e9 }, 'docmill needs 2 GB of memory; this machine has 1.0 GB.'],
  ])('are not met by %j', (more, message) => {
    expect(unmetRequirement({ ...MACHINE, ...more })).toBe(message);
  });

  it('name the directory and the free space if that is too little', () => {
    expect(unmetSpace({ ...MACHINE, disk: 2.94e9 })).toBe(
      'The set-up needs 3 GB of free disk space in /opt, but only 2.9 GB are free. Free some space, or set BUILD_DIR to a directory on another disk.',
    );
  });

  it('name the programs that a Linux without apt lacks, and offer the container', () => {
    expect(unmetPrograms('/usr/sbin:/usr/bin')).toBeUndefined();
    expect(unmetPrograms('/nowhere')).toBe(
      "The engines are unpacked from Debian packages, which needs apt-get and dpkg-deb. Install the packages apt and dpkg, or run 'npm start -- --container'.",
    );
  });
});
