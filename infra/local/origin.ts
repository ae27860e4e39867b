import { isIPv6 } from 'node:net';

/** Listening addresses that make a server reachable as `localhost` from the same machine. */
const LOCAL = new Set(['127.0.0.1', '0.0.0.0', '::']);

/** Returns the origin at which this machine reaches a server that listens on an IP address or host name. */
export function originOf(host: string, port: number): string {
  const name = LOCAL.has(host) ? 'localhost' : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
