import { ipBytes } from './egress/ip-address.ts';

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
