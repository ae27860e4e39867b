import { expect, it } from 'vitest';
import { servedPath } from '../../../../../functions/engines/chromium/proxy/served-files.ts';

it('finds a name in either encoding of its accents', () => {
  expect(servedPath('u\u0308ber.png')).toBe(servedPath('\u00fcber.png'));
});

it('does not normalize names with more combining marks than text has, which would take seconds', () => {
  const name = `a${'\u0316\u0301'.repeat(16)}.png`;

  expect(servedPath(name)).toBe(name);
  expect(servedPath(`a${'\u0316\u0301'.repeat(15)}.png`)).not.toContain('\u0316\u0301\u0316\u0301');
});
