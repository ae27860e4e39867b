import { expect, it } from 'vitest';
import { alternatives } from '../../../functions/shared/quote.ts';

it.each([
  [['GET'], 'GET'],
  [['GET', 'POST'], 'GET or POST'],
  [['GET', 'POST', 'PUT'], 'GET, POST or PUT'],
])('joins the alternatives %j', (words, text) => {
  expect(alternatives(words)).toBe(text);
});
