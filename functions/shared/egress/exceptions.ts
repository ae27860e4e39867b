import { quote } from '../quote.ts';

/** Whether a URL with this host and port is an exception. */
type Matches = (hostname: string, port: number) => boolean;

/**
 * Returns whether a host and a port are one of the exceptions `host:port`, or below a domain as in `*.example.com:443`.
 * @throws Error for an exception in another form.
 */
export function matchExceptions(exceptions: readonly string[]): Matches {
  const exact = new Set<string>();
  const below: { readonly suffix: string; readonly port: number }[] = [];
  for (const exception of exceptions) {
    const { hostname, port, isPattern } = parse(exception);
    if (isPattern) below.push({ suffix: `.${hostname}`, port });
    else exact.add(`${hostname}:${port}`);
  }
  return (hostname, port) =>
    exact.has(`${hostname}:${port}`) ||
    below.some((each) => each.port === port && hostname.endsWith(each.suffix));
}

/** Whether a text is an exception. */
export function isException(exception: string): boolean {
  try {
    parse(exception);
    return true;
  } catch {
    return false;
  }
}

/** Normalizes an exception in the same way as a URL, so that the two can be compared. */
function parse(exception: string) {
  const isPattern = exception.startsWith('*.');
  const pair = isPattern ? exception.slice(2) : exception;
  const port = /:(\d{1,5})$/.exec(pair)?.[1];
  const url = URL.parse(`http://${pair}`);
  const isHost = url !== null && /^([\w.-]+|\[.+\])$/.test(url.hostname);
  // An IP address has no subdomains, and one label would be a whole top-level domain.
  const isDomain = !isPattern || (url !== null && /^[\w-]+(\.[\w-]+)*\.[a-z][\w-]*$/.test(url.hostname));
  if (!port || !isHost || !isDomain || url.pathname !== '/' || url.username)
    throw new Error(`An exception to the egress guard must be host:port, got ${quote(exception)}.`);
  return { hostname: url.hostname, port: Number(port), isPattern };
}
