import { expect, it } from 'vitest';
import { stateOf } from '../../../../functions/site/accounts/pages.ts';

const key = { id: 'k', account: 'a', name: 'x', created: 0, disabled: false, limits: {} };

it('says that a key of a disabled account is not valid', () => {
  expect(stateOf(key)).toBe('valid');
  expect(stateOf({ ...key, accountDisabled: true })).toBe('account disabled');
});
