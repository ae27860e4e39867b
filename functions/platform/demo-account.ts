import { createHash } from 'node:crypto';

/** The account of all demo conversions together, of which each IP address has a part. */
export const DEMO_ACCOUNT = 'demo';

/** Returns an opaque account for the demo conversions of a network. */
export function demoAccountOf(network: string): string {
  const hash = createHash('sha256').update(`demo ${network}`).digest('hex');
  return `${DEMO_ACCOUNT}-${hash.slice(0, 16)}`;
}

export function isDemoAccount(account: string): boolean {
  return /^demo-[0-9a-f]{16}$/.test(account);
}
