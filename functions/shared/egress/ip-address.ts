import { isIPv4, isIPv6 } from 'node:net';

/** An IP range as prefix and length, and why it is listed. */
type Range = readonly [prefix: string, bits: number, reason: string];

/**
 * IPv4 ranges that are never connected to.
 * Source: https://www.iana.org/assignments/iana-ipv4-special-registry, and the metadata services of cloud providers.
 */
const FORBIDDEN_V4: readonly Range[] = [
  ['0.0.0.0', 8, 'this network: Linux dials 0.0.0.0 as loopback'],
  ['10.0.0.0', 8, 'private'],
  ['100.64.0.0', 10, 'carrier-grade NAT; metadata of some clouds'],
  ['127.0.0.0', 8, 'loopback: the Runtime API may listen here'],
  ['168.63.129.16', 32, 'a cloud host agent on a public-looking address'],
  ['169.254.0.0', 16, 'link local: instance metadata, the Runtime API'],
  ['172.16.0.0', 12, 'private'],
  ['192.0.0.0', 24, 'protocol assignments'],
  ['192.0.2.0', 24, 'documentation'],
  ['192.31.196.0', 24, 'AS112'],
  ['192.52.193.0', 24, 'AMT'],
  ['192.88.99.0', 24, '6to4 relay'],
  ['192.168.0.0', 16, 'private'],
  ['192.175.48.0', 24, 'AS112'],
  ['198.18.0.0', 15, 'benchmarking'],
  ['198.51.100.0', 24, 'documentation'],
  ['203.0.113.0', 24, 'documentation'],
  ['224.0.0.0', 4, 'multicast'],
  ['240.0.0.0', 4, 'reserved, broadcast'],
];

/**
 * The only IPv6 range that is allocated for the public internet. Everything else (mapped, NAT64, unique
 * local, …) is blocked.
 */
const PUBLIC_V6: Range = ['2000::', 3, 'global unicast'];

/**
 * Ranges inside 2000::/3 that are never connected to. Ranges that embed an IPv4 address are blocked entirely.
 * Source: https://www.iana.org/assignments/iana-ipv6-special-registry
 */
const FORBIDDEN_V6: readonly Range[] = [
  ['2001::', 23, 'protocol assignments: Teredo, benchmarking, ORCHID, AMT'],
  ['2001:db8::', 32, 'documentation'],
  ['2002::', 16, '6to4, carries an IPv4 address'],
  ['2620:4f:8000::', 48, 'AS112'],
  ['3fff::', 20, 'documentation'],
];

/** Interface identifiers 0000:5efe and 0200:5efe: ISATAP, which embeds an IPv4 address under any prefix (RFC 5214). */
const ISATAP: readonly (readonly number[])[] = [
  [0x00, 0x00, 0x5e, 0xfe],
  [0x02, 0x00, 0x5e, 0xfe],
];

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

/** Prefix of IPv6 addresses that contain an IPv4 address: `::ffff:0:0/96`. */
const MAPPED = [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff];

/**
 * Returns the network that limits are counted for: an IPv4 address itself, or the first 64 bits of an IPv6 address,
 * because a single caller usually has a whole /64.
 */
export function networkOf(ip: string): string {
  const bytes = ipBytes(ip.split('%')[0]!);
  if (bytes?.length !== 16) return ip;
  if (MAPPED.every((byte, index) => byte === bytes[index])) return bytes.slice(12).join('.');
  return [0, 2, 4, 6].map((index) => ((bytes[index]! << 8) | bytes[index + 1]!).toString(16)).join(':');
}
