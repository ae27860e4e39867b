import type { Device } from 'puppeteer-core';
import { KnownDevices } from 'puppeteer-core/internal/common/Device.js';

const DEVICES: Readonly<Record<string, Device>> = KnownDevices;

/** Returns a device of Puppeteer's list, whose names are case-insensitive, or `undefined`. */
export function deviceNamed(name: string): (Device & { readonly name: string }) | undefined {
  const known = Object.keys(DEVICES).find((each) => each.toLowerCase() === name.toLowerCase());
  return known === undefined ? undefined : { ...DEVICES[known]!, name: known };
}
