import { afterEach, expect, it, vi } from 'vitest';
import { isValid, type KeyRecord } from '../../../functions/platform/keys.ts';

const NOW = Date.UTC(2026, 0, 1);
const valid = (key: Partial<KeyRecord>) => isValid({ disabled: false, ...key } as KeyRecord);

afterEach(() => vi.useRealTimers());

it('accepts a key until it expires, unless it is disabled', () => {
  vi.useFakeTimers({ now: NOW, toFake: ['Date'] });

  expect([valid({}), valid({ expires: NOW + 1 })]).toEqual([true, true]);
  expect([
    valid({ expires: NOW }),
    valid({ disabled: true }),
    valid({ disabled: true, expires: NOW + 1 }),
  ]).toEqual([false, false, false]);
});
