import type { IncomingMessage } from 'node:http';
import { expect, it } from 'vitest';
import { createCallers } from '../../../../../infra/local/server/http/callers.ts';
import { recordOf } from '../../../../functions/accounts.ts';

const sent = (url: string, headers: IncomingMessage['headers'] = {}) => ({ url, headers }) as IncomingMessage;

it('takes an account for the caller once its key was valid, and else the network', async () => {
  const { keys, of } = createCallers({
    find: async (apiKey) => (apiKey === 'VALID' ? recordOf('account') : undefined),
    findSigner: async () => undefined,
  });
  const requests = [
    sent('/api/?app=x&apikey=VALID'),
    sent('/api/usage', { 'x-api-key': 'VALID' }),
    sent('/api/', { authorization: 'Bearer VALID' }),
  ];
  const before = requests.map((request) => of(request, '192.0.2.1'));
  await keys.find('VALID');
  await keys.find('OTHER');

  expect(before).toEqual(Array(3).fill('network 192.0.2.1'));
  expect(requests.map((request) => of(request, '192.0.2.1'))).toEqual(Array(3).fill('account'));
  expect(of(sent('/?apikey=OTHER'), '2001:db8::1')).toBe(of(sent('/'), '2001:db8::2'));
});
