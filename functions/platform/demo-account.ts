import { createHash } from 'node:crypto';
import { isIPv6 } from 'node:net';

/** The account of all demo conversions together, of which each IP address has a part. */
export const DEMO_ACCOUNT = 'demo';

export function isDemoAccount(account: string): boolean {
  return /^demo-[0-9a-f]{16}$/.test(account);
}

/** Returns an opaque account for an IP address. */
export function demoAccount(ip = ''): string {
  const hash = createHash('sha256')
    .update(`demo ${networkOf(ip)}`)
    .digest('hex');
  return `${DEMO_ACCOUNT}-${hash.slice(0, 16)}`;
}

/** Returns an IPv4 address, or the first 64 bits of an IPv6 address, because each caller has a whole network of them. */
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
