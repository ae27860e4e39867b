import { expect, it } from 'vitest';
import { originOf } from '../../../infra/local/settings.ts';

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
