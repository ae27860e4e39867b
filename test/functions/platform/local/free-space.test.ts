import { statfsSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { defaultShare, FreeSpace } from '../../../../functions/platform/local/free-space.ts';

const { bavail, blocks, bsize } = statfsSync(tmpdir());
const directories = { data: tmpdir() };

it('rejects conversions while less than the reserve is free', () => {
  const space = new FreeSpace({ directories, reserve: blocks * bsize });

  expect(space.isLow).toBe(true);
  expect(() => space.check()).toThrow(expect.objectContaining({ code: 'OVERLOADED', retryAfter: 60 }));
});

it('accepts conversions while more than the reserve is free', () => {
  const space = new FreeSpace({ directories, reserve: 1 });

  expect(space.isLow).toBe(false);
  expect(() => space.check()).not.toThrow();
  expect(space.free().data).toBeGreaterThan((bavail * bsize) / 2);
});

it('leaves a missing directory to whatever writes to it', () => {
  const space = new FreeSpace({ directories: { data: '/does/not/exist' } });

  expect(space.isLow).toBe(false);
});

it('gives one account a quarter of the disk at most', () => {
  expect(defaultShare(tmpdir())).toBeLessThanOrEqual((blocks * bsize) / 4);
});
