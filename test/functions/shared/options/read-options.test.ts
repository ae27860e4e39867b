import { expect, it } from 'vitest';
import { suggest } from '../../../../functions/shared/options/read-options.ts';

const NAMES = ['-f', '-l', '-width', '-height', '--page-size', '--margin-top', 'in_ext'];

it.each([
  ['-widht', '-width'],
  ['--width', '-width'],
  ['-WIDTH', '-width'],
  ['width', '-width'],
  ['--pagesize', '--page-size'],
  ['--page_size', '--page-size'],
  ['-in-ext', 'in_ext'],
  ['--margin-to', '--margin-top'],
])('suggests the most similar name for %s', (name, expected) => {
  expect(suggest(name, NAMES)).toBe(expected);
});

it.each(['', '-z', '-colourful', '--something-else', 'x'.repeat(10_000)])(
  'suggests nothing for %j',
  (name) => {
    expect(suggest(name, ['-f', '-width', '--page-size'])).toBeUndefined();
  },
);

it('suggests nothing if there are no names', () => {
  expect(suggest('-f', [])).toBeUndefined();
});
