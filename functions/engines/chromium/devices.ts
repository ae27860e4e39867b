import type { Device, Protocol } from 'puppeteer-core';
import { KnownDevices } from 'puppeteer-core/internal/common/Device.js';
import { CHROMIUM_VERSION } from './browser/flags.ts';

const DEVICES: Readonly<Record<string, Device>> = KnownDevices;

/** Returns a device of Puppeteer's list, whose names are case-insensitive, or `undefined`. */
export function deviceNamed(name: string): (Device & { readonly name: string }) | undefined {
  const known = Object.keys(DEVICES).find((each) => each.toLowerCase() === name.toLowerCase());
  return known === undefined ? undefined : { ...DEVICES[known]!, name: known };
}

type Hints = Protocol.Emulation.UserAgentMetadata;

/**
 * Chromium's own client hints without `HeadlessChrome`. They are in `Sec-CH-UA` headers and
 * `navigator.userAgentData`, which pages and servers evaluate like `User-Agent`.
 */
export const DESKTOP_HINTS: Hints = {
  brands: [
    { brand: 'Chromium', version: CHROMIUM_VERSION },
    { brand: 'Not(A:Brand', version: '24' },
  ],
  platform: 'Linux',
  platformVersion: '',
  architecture: 'x86',
  bitness: '64',
  model: '',
  mobile: false,
};

/**
 * Returns the properties that tell scripts and servers which system a device runs. Only Chromium sends client hints.
 */
export function platformOf({ userAgent, viewport }: Device): {
  readonly platform?: string;
  readonly userAgentMetadata?: Hints;
} {
  const apple = /iPhone|iPad|iPod/.exec(userAgent)?.[0];
  if (apple) return { platform: apple };
  const [, platformVersion, model = ''] =
    /Android ([\d.]+);(?: [a-z-]+;)? ([^;)]*?)(?: Build|;|\))/.exec(userAgent) ?? [];
  if (platformVersion === undefined) return {};
  const version = /Chrome\/(\d+)/.exec(userAgent)?.[1];
  if (version === undefined) return { platform: 'Linux armv8l' };
  const brands = [
    { brand: 'Chromium', version },
    { brand: 'Not(A:Brand', version: '24' },
  ];
  const hints = { platform: 'Android', platformVersion, model, mobile: viewport.isMobile ?? false };
  return {
    platform: 'Linux armv8l',
    userAgentMetadata: { ...DESKTOP_HINTS, ...hints, brands, architecture: '', bitness: '' },
  };
}
