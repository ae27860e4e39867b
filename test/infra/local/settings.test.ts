import * as os from 'node:os';
import { afterEach, expect, it, vi } from 'vitest';
import { originOf, readSettings } from '../../../infra/local/settings.ts';

vi.mock('node:os', async (original) => {
  const real = await original<typeof os>();
  return { ...real, availableParallelism: vi.fn(real.availableParallelism) };
});

afterEach(() => vi.unstubAllEnvs());

it('converts as many sources at once as the machine has cores, but at most 64', () => {
  vi.mocked(os.availableParallelism).mockReturnValueOnce(16).mockReturnValueOnce(96);

  const sizes = [readSettings().size, readSettings().size];

  expect(sizes).toEqual([16, 64]);
});

it('names its own account page at the address it listens on', () => {
  vi.stubEnv('HOST', '192.0.2.7');

  expect(readSettings().router.contact.accountUrl).toBe('http://192.0.2.7:3000/account');
});

it('counts the name of the machine and of its public URL among its own hosts', () => {
  vi.stubEnv('PUBLIC_URL', 'https://convert.example');
  vi.stubEnv('OWN_HOSTS', 'other.example');

  expect(readSettings().ownHosts).toEqual([os.hostname(), 'convert.example', 'other.example']);
});

it('limits the stored results of an account, unless told not to', () => {
  expect(readSettings().accountBytes).toBeUndefined();

  vi.stubEnv('ACCOUNT_STORAGE', '0');

  expect(readSettings().accountBytes).toBe(0);
});

it.each([
  ['PORT', 'x', /^Setting PORT must be/],
  ['PORT', '70000', /^Setting PORT must be/],
  ['CONCURRENCY', '0', /^Setting CONCURRENCY must be/],
  ['PUBLIC_URL', 'convert.example.com', /PUBLIC_URL must be/],
  ['PUBLIC_URL', 'https://convert.example.com/path', /PUBLIC_URL must be/],
  ['SMTP_URL', 'mail.example.com', /SMTP_URL must be a URL such as smtps:/],
  ['SANDBOX', 'no', /SANDBOX must be required or best-effort/],
  ['ALLOW_SOURCES', 'localhost', /ALLOW_SOURCES must be host:port pairs/],
  ['DNS_SERVERS', '8.8.8.8.8', /DNS_SERVERS must be IP addresses/],
  ['API_KEY', 'abc', /API_KEY must be 16 to 200 characters/],
  ['MAIL_FROM', 'nobody', /MAIL_FROM must be an email address/],
  ['OPENID_ISSUER', 'http://login.example', /OPENID_ISSUER must be an https URL/],
  ['METRICS_PORT', 'on', /METRICS_PORT must be an integer/],
  ['URL_LIFETIM', '60', /There is no setting URL_LIFETIM. Did you mean URL_LIFETIME\?/],
])('rejects %s=%s', (name, value, message) => {
  vi.stubEnv(name, value);

  expect(() => readSettings()).toThrow(message);
});

it('believes proxies in the networks of TRUSTED_PROXIES only', () => {
  vi.stubEnv('TRUSTED_PROXIES', '10.0.0.0/8,192.0.2.7,fd00::/8');

  const { proxies } = readSettings();

  expect(proxies.check('10.1.2.3')).toBe(true);
  expect(proxies.check('192.0.2.7')).toBe(true);
  expect(proxies.check('192.0.2.8')).toBe(false);
  expect(proxies.check('fd12::1', 'ipv6')).toBe(true);
});

it.each(['10.0.0.0/33', '10.0.0', 'proxy.example', '10.0.0.0/8/8', '10.0.0.0/x'])(
  'rejects %s as TRUSTED_PROXIES',
  (value) => {
    vi.stubEnv('TRUSTED_PROXIES', value);

    expect(() => readSettings()).toThrow(`got '${value}'`);
  },
);

it('rejects a LOCALE that is no language tag', () => {
  vi.stubEnv('LOCALE', 'German!');

  expect(() => readSettings()).toThrow("LOCALE must be a language tag such as de-DE, got 'German!'");
});

it.each([
  ['127.0.0.1', 'http://localhost:3000'],
  ['0.0.0.0', 'http://localhost:3000'],
  ['::', 'http://localhost:3000'],
  ['localhost', 'http://localhost:3000'],
  // `localhost` leads to 127.0.0.1 only on some machines, and never to another loopback address.
  ['::1', 'http://[::1]:3000'],
  ['127.0.0.2', 'http://127.0.0.2:3000'],
  ['192.0.2.7', 'http://192.0.2.7:3000'],
  ['2001:db8::7', 'http://[2001:db8::7]:3000'],
  ['docmill.example', 'http://docmill.example:3000'],
])('reaches a server that listens on %s at %s', (host, origin) => {
  expect(originOf(host, 3000)).toBe(origin);
});
