import type { KeyRecord } from '../../functions/platform/keys.ts';
import { type Limiter, windowsAt } from '../../functions/platform/limits.ts';
import type { Usage } from '../../functions/platform/usage.ts';

/** The record of a key whose account is `account`. */
export function recordOf(account: string, more: Partial<KeyRecord> = {}): KeyRecord {
  return { id: 'key_TESTTESTTE', account, name: 'test', created: 0, disabled: false, limits: {}, ...more };
}

const limiter: Limiter = {
  admit: async ({ account, now = Date.now() }) => ({
    admitted: true,
    used: { short: 1, month: 1 },
    ticket: { account, windows: windowsAt(now) },
  }),
  release: async () => {},
  used: async () => ({ short: 0, month: 0 }),
};

const usage: Usage = {
  record: async () => {},
  month: async () => [],
  total: async () => [],
  erase: async () => 0,
};

/** Limits, records and checks that do nothing, for tests of other parts. */
export const unlimited = { limiter, usage, defaultLimits: {}, health: async () => ({}), version: {} };
