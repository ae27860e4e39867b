/** An IP range as prefix and length, and why it is listed. */
export type Range = readonly [prefix: string, bits: number, reason: string];

/**
 * IPv4 ranges that are never connected to.
 * Source: https://www.iana.org/assignments/iana-ipv4-special-registry, and the metadata services of cloud providers.
 */
export const FORBIDDEN_V4: readonly Range[] = [
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
export const PUBLIC_V6: Range = ['2000::', 3, 'global unicast'];

/**
 * Ranges inside 2000::/3 that are never connected to. Ranges that embed an IPv4 address are blocked entirely.
 * Source: https://www.iana.org/assignments/iana-ipv6-special-registry
 */
export const FORBIDDEN_V6: readonly Range[] = [
  ['2001::', 23, 'protocol assignments: Teredo, benchmarking, ORCHID, AMT'],
  ['2001:db8::', 32, 'documentation'],
  ['2002::', 16, '6to4, carries an IPv4 address'],
  ['2620:4f:8000::', 48, 'AS112'],
  ['3fff::', 20, 'documentation'],
];

/** Interface identifiers 0000:5efe and 0200:5efe: ISATAP, which embeds an IPv4 address under any prefix (RFC 5214). */
export const ISATAP: readonly (readonly number[])[] = [
  [0x00, 0x00, 0x5e, 0xfe],
  [0x02, 0x00, 0x5e, 0xfe],
];
