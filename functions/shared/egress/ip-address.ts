import { isIPv4, isIPv6 } from 'node:net';
import { FORBIDDEN_V4, FORBIDDEN_V6, ISATAP, PUBLIC_V6, type Range } from './ranges.ts';

/** The ranges to check. Tests remove one at a time. */
interface Ranges {
  readonly forbiddenV4: readonly Range[];
  readonly publicV6: Range;
  readonly forbiddenV6: readonly Range[];
  readonly isatap: readonly (readonly number[])[];
}

export const RANGES: Ranges = {
  forbiddenV4: FORBIDDEN_V4,
  publicV6: PUBLIC_V6,
  forbiddenV6: FORBIDDEN_V6,
  isatap: ISATAP,
};

/**
 * Whether an IP address is on the public internet. The check works on bytes. Anything that is not a plain IP address
 * is not public.
 */
export function isPublic(ipAddress: string, ranges: Ranges = RANGES): boolean {
  const bytes = ipBytes(ipAddress);
  if (bytes?.length === 4) return !ranges.forbiddenV4.some((range) => contains(range, bytes));
  if (bytes?.length !== 16 || !contains(ranges.publicV6, bytes)) return false;
  if (ranges.forbiddenV6.some((range) => contains(range, bytes))) return false;
  return !ranges.isatap.some((id) => id.every((byte, index) => byte === bytes[8 + index]));
}

/** Returns an IP address as 4 or 16 bytes, or `undefined` for zones (`%eth0`) and non-standard spellings. */
export function ipBytes(ipAddress: string): readonly number[] | undefined {
  if (isIPv4(ipAddress)) return ipAddress.split('.').map(Number);
  if (!isIPv6(ipAddress) || ipAddress.includes('%')) return undefined;

  // The URL parser normalizes every IPv6 address to hexadecimal groups, even one that ends in dotted decimal.
  const groups = new URL(`http://[${ipAddress}]`).hostname.slice(1, -1);
  const [left = '', right = ''] = groups.split('::');
  const head = left.split(':').filter(Boolean);
  const tail = right.split(':').filter(Boolean);
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].flatMap((group) => {
    const value = Number.parseInt(group, 16);
    return [value >> 8, value & 0xff];
  });
}

/** Bytes of the ranges' prefixes, parsed once, because every IP address of a host is compared with every range. */
const starts = new Map<string, readonly number[]>();

function startOf(prefix: string): readonly number[] {
  const start = starts.get(prefix) ?? ipBytes(prefix)!;
  starts.set(prefix, start);
  return start;
}

function contains([prefix, bits]: Range, bytes: readonly number[]): boolean {
  const start = startOf(prefix);
  return bytes.every((byte, index) => {
    const width = Math.min(8, Math.max(0, bits - index * 8));
    const mask = (0xff << (8 - width)) & 0xff;
    return (byte & mask) === (start[index]! & mask);
  });
}
