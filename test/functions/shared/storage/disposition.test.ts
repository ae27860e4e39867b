import { expect, it } from 'vitest';
import { disposition } from '../../../../functions/shared/storage/disposition.ts';

it.each([
  ['a.png', 'inline; filename="a.png"'],
  ['a"b\\c.png', 'inline; filename="a_b_c.png"; filename*=UTF-8\'\'a%22b%5Cc.png'],
  ['ü.png', 'inline; filename="_.png"; filename*=UTF-8\'\'%C3%BC.png'],
  ["it's (1).png", 'inline; filename="it\'s (1).png"'],
])('names the download %s in the header', (name, header) => {
  expect(disposition(name)).toBe(header);
});
