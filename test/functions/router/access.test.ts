import { describe, expect, it } from 'vitest';
import { checkAccess } from '../../../functions/router/access.ts';
import type { Keys } from '../../../functions/shared/keys/keys.ts';

const asked: string[] = [];
const keys: Pick<Keys, 'find'> = {
  find: async (apiKey) => {
    asked.push(apiKey);
    return apiKey === 'GOOD' ? { tenant: 'owner' } : undefined;
  },
};
const check = (...apiKeys: string[]) =>
  checkAccess(
    [{ name: 'app', value: 'tiny' }, ...apiKeys.map((value) => ({ name: 'apikey', value }))],
    keys as Keys,
  );

describe('access', () => {
  it.each(['GOOD', ' GOOD', 'GOOD '])('is given to the owner of %j', async (apiKey) => {
    expect(await check(apiKey)).toEqual({ tenant: 'owner' });
  });

  it.each([[['BAD']], [['good']], [['']], [[]], [['GOOD', 'GOOD']], [['BAD', 'GOOD']]])(
    'is given to nobody for %j',
    async (apiKeys) => {
      expect(await check(...apiKeys)).toBeUndefined();
    },
  );

  it('does not look for a key that is too long to be one', async () => {
    asked.length = 0;

    expect(await check('G'.repeat(201))).toBeUndefined();
    expect(asked).toEqual([]);
  });

  it('reads the name in no other case', async () => {
    expect(await checkAccess([{ name: 'APIKEY', value: 'GOOD' }], keys as Keys)).toBeUndefined();
  });
});
