import { Resolver } from 'node:dns/promises';
import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

interface ResolverOptions {
  /** DNS servers as `address` or `address:port`. Defaults to those in /etc/resolv.conf. */
  readonly servers?: readonly string[];
  /** Reads /etc/hosts and /etc/resolv.conf. Tests replace it. */
  readonly readNames?: () => Promise<SystemNames>;
}

/** Returns the IP addresses of a host name for an account. Cancels its queries when the signal fires. */
export type Resolve = (host: string, signal: AbortSignal, account: string) => Promise<readonly string[]>;

/** Timeout of a query in milliseconds. Each query is tried twice. */
const QUERY_TIME = 1200;
/**
 * How long one address family waits for the other, in milliseconds (RFC 8305, section 3), because a slow AAAA
 * response must not block IPv4.
 */
const OTHER_FAMILY_TIME = 300;
/** Milliseconds until the system files are read again. */
const RELOAD_TIME = 5000;

/**
 * Creates a resolver that queries DNS through c-ares. `dns.lookup` runs on libuv's thread pool and cannot be
 * cancelled, so a silent name server would block the file access of all other conversions. As with getaddrinfo,
 * /etc/hosts takes precedence, `localhost` is loopback, and names without a dot get the search domains. Other sources
 * in nsswitch.conf (mDNS, NIS, LDAP) are not queried.
 */
export function createResolver({ servers = [], readNames = readSystemNames }: ResolverOptions = {}) {
  let loaded: Promise<SystemNames> | undefined;
  let loadedAt = 0;
  const systemNames = () => {
    if (loaded === undefined || performance.now() - loadedAt > RELOAD_TIME) {
      loadedAt = performance.now();
      loaded = readNames();
    }
    return loaded;
  };

  return async (host: string, signal: AbortSignal): Promise<readonly string[]> => {
    const name = host.toLowerCase().replace(/\.$/, '');
    const { hosts, search } = await systemNames();
    const known = hosts.get(name);
    if (known) return known;
    // These names are never sent to a DNS server (RFC 6761).
    if (name === 'localhost' || name.endsWith('.localhost')) return ['127.0.0.1'];

    // Each lookup has its own resolver, because `cancel` ends all queries of a resolver. This also rereads
    // /etc/resolv.conf.
    const resolver = new Resolver({ timeout: QUERY_TIME, tries: 2 });
    if (servers.length > 0) resolver.setServers(servers);
    const cancel = () => resolver.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    try {
      signal.throwIfAborted();
      if (name.includes('.') || search.length === 0) return await queryBoth(resolver, name);
      return await queryFirst(
        resolver,
        search.map((domain) => `${name}.${domain}`),
      );
    } finally {
      signal.removeEventListener('abort', cancel);
      resolver.cancel();
    }
  };
}

async function queryFirst(resolver: Resolver, names: readonly string[]): Promise<readonly string[]> {
  let failure: unknown;
  for (const name of names) {
    try {
      return await queryBoth(resolver, name);
    } catch (error) {
      failure = error;
    }
  }
  throw failure;
}

/** Queries both address families. Throws only if neither has an IP address. */
async function queryBoth(resolver: Resolver, name: string): Promise<readonly string[]> {
  const found: string[] = [];
  const queries = [resolver.resolve4(name), resolver.resolve6(name)].map((query) =>
    query.then((addresses) => {
      found.push(...addresses);
    }),
  );
  // Rejects if both fail. A later rejection of the slower one must not be unhandled.
  const settled = Promise.allSettled(queries);
  await Promise.any(queries).catch((error: AggregateError) => {
    throw error.errors[0];
  });
  let timer: NodeJS.Timeout | undefined;
  const timedOut = new Promise<void>((resolve) => {
    timer = setTimeout(resolve, OTHER_FAMILY_TIME);
  });
  await Promise.race([settled, timedOut]);
  clearTimeout(timer);
  return [...found];
}

/** Host names and search domains configured on this machine. */
interface SystemNames {
  /** IP addresses by host name, from /etc/hosts. */
  readonly hosts: ReadonlyMap<string, readonly string[]>;
  /** Domains that are appended to names without a dot, from /etc/resolv.conf. */
  readonly search: readonly string[];
}

/** Reads /etc/hosts and the search domains of /etc/resolv.conf. A missing file counts as empty. */
export async function readSystemNames(
  hostsFile = '/etc/hosts',
  resolverFile = '/etc/resolv.conf',
): Promise<SystemNames> {
  const [hosts, resolver] = await Promise.all([hostsFile, resolverFile].map(readLines));
  return { hosts: parseHosts(hosts!), search: parseSearch(resolver!) };
}

async function readLines(file: string): Promise<string[][]> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .trim()
      .split(/\s+/),
  );
}

function parseHosts(lines: readonly (readonly string[])[]): Map<string, string[]> {
  const hosts = new Map<string, string[]>();
  for (const [ipAddress = '', ...names] of lines) {
    if (!isIP(ipAddress)) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), ipAddress]);
    }
  }
  return hosts;
}

/** Returns the domains of the last `search` or `domain` line, which is the one that counts (resolv.conf(5)). */
function parseSearch(lines: readonly (readonly string[])[]): string[] {
  const last = lines.findLast(([keyword]) => keyword === 'search' || keyword === 'domain') ?? [];
  return last.slice(1).map((domain) => domain.toLowerCase().replace(/\.$/, ''));
}
