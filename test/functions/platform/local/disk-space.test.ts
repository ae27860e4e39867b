import * as fs from 'node:fs';
import { afterEach, expect, it, vi } from 'vitest';
import { defaultShare, FreeSpace } from '../../../../functions/platform/local/disk-space.ts';

vi.mock('node:fs', { spy: true });
afterEach(() => vi.restoreAllMocks());

/** Lets every file system have 100 MiB, of which some are free. */
function setFree(mebibytes: number): void {
  const state = { bavail: mebibytes, blocks: 100, bsize: 2 ** 20 };
  vi.mocked(fs.statfsSync).mockReturnValue(state as ReturnType<typeof fs.statfsSync>);
}

it('rejects conversions while less than a tenth of the disk is free', () => {
  const space = new FreeSpace({ data: '/data' });

  setFree(9);
  expect([space.isLow, space.status, space.free()]).toEqual([true, 'full', { data: 9 * 2 ** 20 }]);
  expect(() => space.check()).toThrow(expect.objectContaining({ code: 'OVERLOADED', retryAfter: 60 }));

  setFree(11);
  expect([space.isLow, space.status]).toEqual([false, 'up']);
  expect(() => space.check()).not.toThrow();
});

it('leaves a missing directory to whatever writes to it', () => {
  expect(new FreeSpace({ data: '/does/not/exist' }).isLow).toBe(false);
});

it('gives one account a quarter of the disk at most', () => {
  setFree(50);

  expect(defaultShare('/data')).toBe(25 * 2 ** 20);
});
