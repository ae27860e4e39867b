import { expect, it } from 'vitest';
import { isException, matchExceptions } from '../../../../functions/shared/egress/exceptions.ts';

it('matches hosts below a domain, at its port only', () => {
  const matches = matchExceptions(['*.Corp.example:8443', 'files.example:80', '[::1]:99']);

  expect(matches('a.corp.example', 8443)).toBe(true);
  expect(matches('a.b.corp.example', 8443)).toBe(true);
  expect(matches('files.example', 80)).toBe(true);
  expect(matches('[::1]', 99)).toBe(true);
  for (const host of ['corp.example', 'evilcorp.example', 'a.corp.example.evil.example', 'a.files.example'])
    expect([matches(host, 8443), matches(host, 80)]).toEqual([false, false]);
  expect(matches('a.corp.example', 443)).toBe(false);
});

it.each([
  'localhost',
  '*:80',
  '*.example:80',
  '*.0.0.1:80',
  '*.127.0.0.1:80',
  'a*.b.example:80',
  'a/b:80',
  'u@a:80',
])('is not %s', (text) => {
  expect(isException(text)).toBe(false);
});
