import { expect, it } from 'vitest';
import { isCurrent, windowsAt, windowTimes } from '../../../functions/platform/limits.ts';

const NOW = Date.UTC(2026, 10, 30, 23, 59, 30);

it('counts a call in its minute and its month', () => {
  expect(windowsAt(NOW)).toEqual({ short: String(NOW / 60_000 - 0.5), month: '2026-11' });
});

it.each([
  [NOW, true],
  [NOW + 29_999, true],
  [NOW + 30_000, false],
  [NOW - 60_000, false],
  [NOW + 30 * 24 * 3_600_000, false],
])('is current until its minute ends: %i', (now, current) => {
  expect(isCurrent(windowsAt(NOW), now)).toBe(current);
});

it('is not current in another month', () => {
  expect(isCurrent({ ...windowsAt(NOW), month: '2026-12' }, NOW)).toBe(false);
});

it('returns how long each window lasts', () => {
  expect(windowTimes(NOW)).toEqual({
    short: { length: 60, remaining: 30 },
    month: { length: 30 * 24 * 3600, remaining: 30 },
  });
});
