import { createHash } from 'node:crypto';
import { networkOf } from '../shared/network.ts';

/** The account of all demo conversions together. Each IP address has a sub-account. */
export const DEMO_ACCOUNT = 'demo';

export function isIpAccount(account: string): boolean {
  return /^demo-[0-9a-f]{16}$/.test(account);
}

/** Returns an opaque account for an IP address, also outside demo mode. */
export function accountOfIp(ip = ''): string {
  const hash = createHash('sha256')
    .update(`demo ${networkOf(ip)}`)
    .digest('hex');
  return `${DEMO_ACCOUNT}-${hash.slice(0, 16)}`;
}
