import { expect, it } from 'vitest';
import { alternatives, toAscii } from '../../../functions/shared/quote.ts';

it.each([
  [['GET'], 'GET'],
  [['GET', 'POST'], 'GET or POST'],
  [['GET', 'POST', 'PUT'], 'GET, POST or PUT'],
])('joins the alternatives %j', (words, text) => {
  expect(alternatives(words)).toBe(text);
});

it.each([
  ['MS-\u5fae\u8f6f\u96c5\u9ed1', 'MS-?'],
  ['a\r\nb', 'a?b'],
  ['[Output] https://a.example<br>', '? https://a.example?'],
  ['x'.repeat(61), `${'x'.repeat(57)}...`],
])('makes %j printable ASCII', (text, ascii) => {
  expect(toAscii(text)).toBe(ascii);
});
