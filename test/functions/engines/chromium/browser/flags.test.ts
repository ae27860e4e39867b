import { describe, expect, it } from 'vitest';
import {
  CHROMIUM_VERSION,
  chromiumFlags,
  USER_AGENT,
} from '../../../../../functions/engines/chromium/browser/flags.ts';
import { PINS } from '../../../../../layers/chromium/pins.ts';
import product from '../../../../../package.json' with { type: 'json' };

it('names the browser and the service by the versions in use', () => {
  expect(PINS.version.split('.')[0]).toBe(CHROMIUM_VERSION);
  expect(`${product.name}/${product.version}`).toContain(USER_AGENT.split(' ').at(-1));
});

const flags = chromiumFlags({ profile: '/profile', sandbox: false, processes: 'started' });

describe('the flags', () => {
  it('keep the security of the web', () => {
    const forbidden = [
      '--disable-web-security',
      '--allow-running-insecure-content',
      '--single-process',
      '--remote-debugging-port',
      '--remote-debugging-address',
      '--ignore-certificate-errors',
      '--allow-file-access-from-files',
      '--no-proxy-server',
    ];

    const found = forbidden.filter((name) => flags.some((flag) => flag.split('=')[0] === name));

    expect(found).toEqual([]);
  });

  it('include those without which pages bypass the proxy', () => {
    expect(flags).toEqual(
      expect.arrayContaining([
        '--proxy-server=http://127.0.0.1:9',
        '--proxy-bypass-list=<-loopback>',
        '--webrtc-ip-handling-policy=disable_non_proxied_udp',
        '--force-webrtc-ip-handling-policy=disable_non_proxied_udp',
        '--disable-quic',
        '--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE 127.0.0.1',
      ]),
    );
  });

  it('disable the sandbox only if it is not available', () => {
    expect(flags).toContain('--no-sandbox');
    expect(chromiumFlags({ profile: '/profile', sandbox: true, processes: 'forked' }).join()).not.toMatch(
      /no-sandbox|no-zygote/,
    );
  });

  it('are each given once', () => {
    const names = flags.map((flag) => flag.split('=')[0]);

    expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
  });
});
