import { expect, it } from 'vitest';
import { checkLength, MAX_PARAMETERS } from '../../../functions/conversion/request.ts';
import { decodeQuery } from '../../../functions/router/http.ts';

it('decodes pairs in their order', () => {
  expect(decodeQuery('-r=72&infile=a%26b&-gray&-r=1+2')).toEqual([
    { name: '-r', value: '72' },
    { name: 'infile', value: 'a&b' },
    { name: '-gray', value: '' },
    { name: '-r', value: '1 2' },
  ]);
  expect(decodeQuery('')).toEqual([]);
});

it('decodes one pair more than the maximum, which is then refused', () => {
  const most = decodeQuery('&a'.repeat(MAX_PARAMETERS).slice(1));
  const tooMany = decodeQuery('&a'.repeat(32_000).slice(1));

  expect(decodeQuery(`${'&'.repeat(600)}a=1`)).toEqual([{ name: 'a', value: '1' }]);
  expect([most.length, tooMany.length]).toEqual([MAX_PARAMETERS, MAX_PARAMETERS + 1]);
  expect(() => checkLength(most)).not.toThrow();
  expect(() => checkLength(tooMany)).toThrow('A request may have at most 500 parameters.');
});
