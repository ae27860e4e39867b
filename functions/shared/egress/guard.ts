import { connect, isIP, isIPv4, type LookupFunction, type Socket } from 'node:net';
import { networkInterfaces } from 'node:os';
import { ConversionError } from '../errors.ts';
import { createFairQueue } from '../fair-queue.ts';
import { quote } from '../quote.ts';
import { abortError, untilAborted, withTimeout } from '../time.ts';
import { matchExceptions } from './exceptions.ts';
import { ipBytes, isPublic } from './ip-address.ts';
import { createResolver, type Resolve } from './resolver.ts';

/** Rules for the hosts that may be connected to. */
export interface EgressRules {
  /** Allowed ports. */
  readonly ports?: readonly number[];
  /**
   * Pairs `host:port` or `*.domain:port` that are allowed regardless of their IP addresses. For one machine and tests, never on
   * Lambda.
   */
  readonly exceptions?: readonly string[];
  /** The service's own host names, which are blocked so that a conversion cannot start another one. */
  readonly ownHosts?: readonly string[];
  /** Timeout of a name lookup in milliseconds. */
  readonly resolveTime?: number;
  /** Returns every IP address of a host name. Queries DNS by default. */
  readonly resolve?: Resolve;
  /** Maximum number of concurrent name lookups, in total and per account. */
  readonly lookups?: { readonly total: number; readonly perAccount: number };
}

/** The account that a host is looked up for. */
interface Requester {
  readonly account: string;
  /** Cancels the lookup. */
  readonly signal?: AbortSignal;
}

const NEVER = new AbortController().signal;
const LOOKUPS = { total: 128, perAccount: 32 };
/** Maximum number of IP addresses per host to check and dial. A hostile name server may return thousands. */
export const MAX_IP_ADDRESSES = 32;

/** A URL that passed the guard. Only the IP addresses in it may be connected to. */
export interface CheckedUrl {
  readonly url: URL;
  /** Host name or IP address, without brackets. */
  readonly host: string;
  readonly port: number;
  /** All IP addresses of the host. Each one has been checked. */
  readonly ipAddresses: readonly string[];
  /** Returns the checked IP addresses to `node:net`, so that the name is not resolved again. */
  readonly lookup: LookupFunction;
}

export interface EgressGuard {
  /**
   * Checks a URL and resolves its host once.
   * @throws ConversionError `BAD_ADDRESS`, `BLOCKED_ADDRESS`.
   */
  check(url: string | URL, requester?: Requester): Promise<CheckedUrl>;
  /** Connects to a checked IP address. */
  connect(checked: CheckedUrl): Socket;
}

/** Returns the guard that every outgoing connection must pass. */
export function createEgressGuard(rules: EgressRules = {}): EgressGuard {
  const { resolve = createResolver(), resolveTime = 3000 } = rules;
  const lookups = createFairQueue(rules.lookups ?? LOOKUPS);
  const ports = new Set(rules.ports ?? [80, 443]);
  const isException = matchExceptions(rules.exceptions ?? []);
  const ownHosts = new Set((rules.ownHosts ?? []).map(bareHost));

  const lookUp = async (host: string, { account, signal = NEVER }: Requester): Promise<readonly string[]> => {
    const timeoutError = () => blockedError(new Error(`no DNS response within ${resolveTime} ms`));
    const resolveInTime = () =>
      withTimeout(
        resolveTime,
        signal,
        (stop) => untilAborted(stop, resolve(host, stop, account)),
        timeoutError,
      );
    try {
      return await lookups.run(account, resolveInTime, signal);
    } catch (cause) {
      throw signal.aborted ? abortError(signal) : blockedError(cause);
    }
  };

  const check = async (text: string | URL, requester: Requester = { account: '' }): Promise<CheckedUrl> => {
    const url = parseUrl(text);
    const host = url.hostname.replace(/^\[|\]$/g, '');
    const port = Number(url.port || (url.protocol === 'https:' ? 443 : 80));
    const excepted = isException(url.hostname, port);
    if (!excepted && !ports.has(port)) throw blockedPortError(port, ports);
    if (!excepted && ownHosts.has(bareHost(host))) throw blockedError();

    const found = isIP(host) ? [host] : await lookUp(host, requester);
    // Only these are dialled.
    const ipAddresses = [...new Set(found)].slice(0, MAX_IP_ADDRESSES);
    if (ipAddresses.length === 0 || !ipAddresses.every((each) => isIP(each))) throw blockedError();
    const own = ownAddresses();
    const isAllowed = (each: string) => isPublic(each) && !own.has(String(ipBytes(each)));
    if (!excepted && !ipAddresses.every(isAllowed)) throw blockedError();
    return { url, host, port, ipAddresses, lookup: lookupOf(ipAddresses) };
  };

  return {
    check,
    connect: ({ host, port, lookup }) => connect({ host, port, lookup, autoSelectFamily: true }),
  };
}

/** Parses a URL once, so that no later code can parse it differently. */
function parseUrl(input: string | URL): URL {
  const url = URL.parse(String(input));
  const shown = quote(String(input));
  if (!url) throw new ConversionError('BAD_ADDRESS', `The URL must be absolute, got ${shown}.`);
  if (!/^https?:$/.test(url.protocol) || !url.hostname) {
    throw new ConversionError('BAD_ADDRESS', `The URL must start with http:// or https://, got ${shown}.`);
  }
  return url;
}

/**
 * Returns the error for a blocked URL. The message is the same for every reason, so that a caller cannot find out
 * which hosts exist in a private network.
 */
function blockedError(cause?: unknown): ConversionError {
  const message = 'The host of the URL was not found on the public internet.';
  return new ConversionError('BLOCKED_ADDRESS', message, { cause });
}

function blockedPortError(port: number, ports: ReadonlySet<number>): ConversionError {
  const allowed = [...ports].join(', ');
  return new ConversionError(
    'BLOCKED_ADDRESS',
    `The port of the URL must be one of ${allowed}, got ${port}.`,
  );
}

/**
 * Returns this machine's IP addresses as bytes. Read for every check, because the machine can get new ones while the
 * service runs.
 */
function ownAddresses(): ReadonlySet<string> {
  const interfaces = Object.values(networkInterfaces()).flatMap((list) => list ?? []);
  return new Set(interfaces.map(({ address }) => String(ipBytes(address.replace(/%.*/, '')))));
}

function lookupOf(ipAddresses: readonly string[]): LookupFunction {
  const answers = ipAddresses.map((address) => ({ address, family: isIPv4(address) ? 4 : 6 }));
  return (_host, options, callback) => {
    if (options.all) return callback(null, answers);
    callback(null, answers[0]!.address, answers[0]!.family);
  };
}

function bareHost(host: string): string {
  return host.toLowerCase().replace(/\.$/, '');
}
