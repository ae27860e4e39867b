import { hostname } from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { readSettings } from '../../../infra/local/settings.ts';

afterEach(() => vi.unstubAllEnvs());

it('counts the name of the machine and of its public URL among its own hosts', () => {
  vi.stubEnv('PUBLIC_URL', 'https://convert.example');
  vi.stubEnv('OWN_HOSTS', 'other.example');

  expect(readSettings().ownHosts).toEqual([hostname(), 'convert.example', 'other.example']);
});

it('limits the stored results of an account, unless told not to', () => {
  expect(readSettings().accountBytes).toBe(10 * 2 ** 30);

  vi.stubEnv('ACCOUNT_STORAGE', '0');

  expect(readSettings().accountBytes).toBe(0);
});
