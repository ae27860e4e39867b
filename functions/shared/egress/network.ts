import { isIPv6 } from 'node:net';

/**
 * Returns the network that limits are counted for: an IPv4 address itself, or the first 64 bits of an IPv6 address,
 * because a single caller usually has a whole /64.
 */
export function networkOf(ip: string): string {
  if (!isIPv6(ip) || ip.includes('.')) return ip.replace(/^::ffff:/, '');
  const [head = '', tail = ''] = ip.split('%')[0]!.split('::') as [string, string?];
  const [left, right] = [head, tail].map((part) => part.split(':').filter((group) => group !== ''));
  const zeros = Array.from({ length: Math.max(0, 8 - left!.length - right!.length) }, () => '0');
  return [...left!, ...zeros, ...right!]
    .slice(0, 4)
    .map((group) => Number.parseInt(group, 16).toString(16))
    .join(':');
}
