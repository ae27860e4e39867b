/** Facts of one event; values are short and never hold a query, an address with its query, or a key. */
export type Log = (event: string, facts?: Readonly<Record<string, unknown>>) => void;

/** Writes one JSON line per event. */
export function jsonLog(write: (line: string) => void): Log {
  return (event, facts) => write(JSON.stringify({ time: new Date().toISOString(), event, ...facts }));
}

/** What the log may know of something thrown: the chain of causes, with addresses cut at their query. */
export function describe(thrown: unknown): string {
  const parts: string[] = [];
  for (let error = thrown; error !== undefined && parts.length < 5; ) {
    parts.push(error instanceof Error ? `${error.name}: ${error.message}` : String(error));
    error = error instanceof Error ? error.cause : undefined;
  }
  return parts
    .join(' < ')
    .replace(/(https?:\/\/[^\s?'"]+)\?[^\s'"]*/g, '$1?…')
    .slice(0, 2000);
}
