import { ConversionError } from './errors.ts';

export type Level = 'debug' | 'info' | 'warn' | 'error';

/** Logs an event with fields. Values are short and never contain a query, a URL with its query, or a key. */
export type Log = (event: string, fields?: Readonly<Record<string, unknown>>, level?: Level) => void;

export type LogFormat = 'json' | 'pretty';

const LEVELS: readonly Level[] = ['debug', 'info', 'warn', 'error'];

/** Writes events of a level or above, one line each: a JSON object, or text for a terminal. */
export function createLog(
  write: (line: string) => void,
  { format = 'json', level = 'info' }: { format?: LogFormat; level?: Level } = {},
): Log {
  const lowest = LEVELS.indexOf(level);
  const line = format === 'json' ? jsonLine : prettyLine;
  return (event, fields = {}, severity = 'info') => {
    if (LEVELS.indexOf(severity) >= lowest) write(line(new Date().toISOString(), severity, event, fields));
  };
}

function jsonLine(
  time: string,
  level: Level,
  event: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  return toJson({ time, level, event, ...fields });
}

/** Writes JSON that a terminal shows as it is: JSON itself escapes only some of what controls it or the direction of text. */
function toJson(value: unknown): string {
  const escaped = (character: string) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  return JSON.stringify(value)?.replace(/[\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069]/g, escaped);
}

/** Values that need no quotes. Any other value could be mistaken for another line or another field. */
const PLAIN = /^[\x21\x23-\x3c\x3e-\x7e]+$/;

function prettyLine(
  time: string,
  level: Level,
  event: string,
  fields: Readonly<Record<string, unknown>>,
): string {
  const pairs = Object.entries(fields).map(
    ([name, value]) => `${name}=${typeof value === 'string' && PLAIN.test(value) ? value : toJson(value)}`,
  );
  return [time.slice(11, 23), level.padEnd(5), event, ...pairs].join(' ');
}

/** Matches a URL, capturing scheme and host. The scheme's length is bounded to keep matching linear. */
const URLS = /([a-z][a-z0-9+.-]{0,30}:\/\/)(?:[^\s/?#@]*@)*([^\s/?#'"]*)[^\s"]*/gi;

/** Matches what libxml2 says about a place in a document, which may be names in it. */
const XML_DETAIL = /(?<=XML parse error: .{0,80} of data:).*/s;

/**
 * Describes an error for the log by its chain of causes. Messages to callers are left out, because they quote
 * callers, pages and servers. URLs are reduced to their host, and API keys are removed.
 */
export function describe(thrown: unknown): string {
  const parts: string[] = [];
  for (let error = thrown; error !== undefined && parts.length < 5; ) {
    parts.push(describeOne(error));
    error = error instanceof Error ? error.cause : undefined;
  }
  return withoutApiKeys(
    parts.join(' < ').slice(0, 20_000).replace(URLS, '$1$2/…').replace(XML_DETAIL, ' …'),
  ).slice(0, 2000);
}

/** Lines of an engine that tell of a problem, and never only repeat the document. */
const PROBLEM =
  /error|warn|fail|fatal|exception|can ?not|can't|unable|invalid|damaged|corrupt|expected|missing/i;
/** Quoted texts, and long words such as paths: parts of documents. */
const QUOTED = /"[^"]*("|$)|`[^`']*['`]?|(?<!\w)'[^']*('|$)|[«“‘][^»”’]*[»”’]?|<[^>]*>?|\S{40,}|\S*\/\S*/g;

/**
 * Returns the last lines that an engine wrote about a problem, for the log, or `undefined` if there are none. Leaves out whatever it
 * may have quoted: texts and names of the document, and the line of a source with a mark below, as libxml2 writes it.
 */
export function engineSays(text: string): string | undefined {
  const lines = text.slice(-4000).split(/\r?\n/);
  const own = lines.filter((line, index) => PROBLEM.test(line) && !/^\s*\^\s*$/.test(lines[index + 1] ?? ''));
  const said = own.slice(-3).join(' | ').replace(QUOTED, '…').replace(/\p{C}/gu, ' ').slice(-300).trim();
  return said === '' ? undefined : said;
}

function describeOne(error: unknown): string {
  if (error instanceof ConversionError && error.code !== 'INTERNAL') return `${error.name}: ${error.code}`;
  return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
}

/** Seven letters and digits of a key; see `platform/keys.ts`. */
const GROUP = '[0-9A-HJKMNP-TV-Z]{7}';
const GROUP_LENGTH = 7;
/**
 * Finds a key by its first hyphen, because long texts contain few hyphens. A search for the first group would compare
 * every letter of a text seven times, which took 30 ms for a query.
 */
const ANYWHERE = new RegExp(`(?<=${GROUP})(-${GROUP}){3}`, 'gi');

/** Keys of any form that this process accepts, because an operator chose them. */
const chosen = new Set<string>();

/** Makes the functions below find a key that an operator chose. */
export function addChosenApiKey(apiKey: string): void {
  chosen.add(apiKey);
}

/** Whether a text contains a key, or anything that looks like one. */
export function containsApiKey(text: string): boolean {
  return text.search(ANYWHERE) >= 0 || [...chosen].some((apiKey) => text.includes(apiKey));
}

/** Replaces keys, and anything that looks like one. */
export function withoutApiKeys(given: string): string {
  const text = [...chosen].reduce((left, apiKey) => left.replaceAll(apiKey, '…'), given);
  const parts: string[] = [];
  let end = 0;
  for (const { 0: found, index } of text.matchAll(ANYWHERE)) {
    parts.push(text.slice(end, Math.max(end, index - GROUP_LENGTH)), '…');
    end = index + found.length;
  }
  return parts.join('') + text.slice(end);
}
