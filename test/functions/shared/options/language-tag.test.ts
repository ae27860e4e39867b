import { expect, it, vi } from 'vitest';
import { languageTag } from '../../../../functions/shared/options/language-tag.ts';

it.each([
  ['de-de', 'de-DE'],
  ['zh-hant-tw', 'zh-Hant-TW'],
  ['', undefined],
  ['de_DE', undefined],
])('reads %j as %j', (value, tag) => {
  expect(languageTag(value)).toBe(tag);
});

it('does not parse texts longer than a language tag', () => {
  const parse = vi.spyOn(Intl, 'getCanonicalLocales');

  expect(languageTag(`de-${'x'.repeat(33)}`)).toBeUndefined();

  expect(parse).not.toHaveBeenCalled();
});
