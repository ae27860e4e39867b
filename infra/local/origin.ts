import { isIPv6 } from 'node:net';

/** Listening here, a server is reached as `localhost` from the same machine. */
const LOCAL = new Set(['127.0.0.1', '0.0.0.0', '::']);

/** Returns the origin of a server that listens on an address or host name, as this machine reaches it. */
export function originOf(host: string, port: number): string {
  const name = LOCAL.has(host) ? 'localhost' : isIPv6(host) ? `[${host}]` : host;
  return `http://${name}:${port}`;
}
