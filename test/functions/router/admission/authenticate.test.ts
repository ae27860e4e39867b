import { describe, expect, it } from 'vitest';
import type { KeyFinder } from '../../../../functions/platform/keys.ts';
import { authenticate } from '../../../../functions/router/admission/authenticate.ts';
import { recordOf } from '../../accounts.ts';
import { headerOf } from '../header.ts';

const asked: string[] = [];
const keys: KeyFinder = {
  find: async (apiKey) => {
    asked.push(apiKey);
    return apiKey === 'GOOD' ? recordOf('owner') : undefined;
  },
  findSigner: async () => undefined,
};
const check = (...apiKeys: string[]) =>
  authenticate(
    {
      query: [{ name: 'app', value: 'tiny' }, ...apiKeys.map((value) => ({ name: 'apikey', value }))],
      header: () => undefined,
    },
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

  const basic = (pair: string) => `Basic ${Buffer.from(pair).toString('base64')}`;
  it.each([
    { 'x-api-key': 'GOOD' },
    { authorization: 'Bearer GOOD' },
    { authorization: 'bearer  GOOD ' },
    { authorization: basic('anyone:GOOD') },
    { authorization: basic(':GOOD') },
    { authorization: basic('GOOD') },
    { 'x-api-key': 'GOOD', authorization: 'Bearer of a proxy' },
  ])('is given to a key in %j', async (headers) => {
    expect(await authenticate({ query: [], header: headerOf(headers) }, keys)).toEqual(recordOf('owner'));
  });

  it.each([
    { 'x-api-key': 'BAD', authorization: 'Bearer GOOD' },
    { authorization: 'GOOD' },
    { authorization: 'Digest GOOD' },
    { authorization: basic('GOOD:') },
    {},
  ])('is denied to %j', async (headers) => {
    expect(await authenticate({ query: [], header: headerOf(headers) }, keys)).toBeUndefined();
  });

  it('depends on the parameter if there is one, because a proxy may add a header', async () => {
    const header = headerOf({ authorization: basic('user:password'), 'x-api-key': 'BAD' });
    const query = [{ name: 'apikey', value: 'GOOD' }];

    expect(await authenticate({ query, header }, keys)).toEqual(recordOf('owner'));
  });

  it('matches the parameter name case-sensitively', async () => {
    expect(
      await authenticate({ query: [{ name: 'APIKEY', value: 'GOOD' }], header: () => undefined }, keys),
    ).toBeUndefined();
  });
});
