import { describe, expect, it } from 'vitest';
import type { KeyFinder } from '../../../../functions/platform/keys/keys.ts';
import { authenticate } from '../../../../functions/router/accounts/access.ts';
import { recordOf } from '../../accounts.ts';

const asked: string[] = [];
const keys: KeyFinder = {
  find: async (apiKey) => {
    asked.push(apiKey);
    return apiKey === 'GOOD' ? recordOf('owner') : undefined;
  },
};
const check = (...apiKeys: string[]) =>
  authenticate(
    [{ name: 'app', value: 'tiny' }, ...apiKeys.map((value) => ({ name: 'apikey', value }))],
    keys,
  );

describe('access', () => {
  it.each(['GOOD', ' GOOD', 'GOOD '])('is given to the owner of %j', async (apiKey) => {
    expect(await check(apiKey)).toEqual(recordOf('owner'));
  });

  it.each([[['BAD']], [['good']], [['']], [[]], [['GOOD', 'GOOD']], [['BAD', 'GOOD']]])(
    'is denied for %j',
    async (apiKeys) => {
      expect(await check(...apiKeys)).toBeUndefined();
    },
  );

  it('does not look up a key that is too long', async () => {
    asked.length = 0;

    expect(await check('G'.repeat(201))).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('matches the parameter name case-sensitively', async () => {
    expect(await authenticate([{ name: 'APIKEY', value: 'GOOD' }], keys)).toBeUndefined();
  });
});
