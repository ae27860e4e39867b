import { readFile } from 'node:fs/promises';
import { isIP } from 'node:net';

/** Host names and search domains configured on this machine. */
export interface SystemNames {
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
