import { ConversionError } from '../errors.ts';
import { quote } from '../quote.ts';
import { asUtf8, typeOfDataUrl, typeOfMarkup } from '../source/data-url.ts';
import type { Tool } from '../tool.ts';
import { isBucketUrl, isSentFile, isUploadId, readUrl, URL_RULE } from './option.ts';
import { optionNamed } from './read-options.ts';

type Values = Readonly<Record<string, unknown>>;

/** Whether a file can be sent under this name: `infile`, or an option whose value is a source. */
export function takesSource(tools: readonly Tool[], name: string): boolean {
  return name === 'infile' || tools.some((tool) => optionNamed(tool, name)?.namesSource === true);
}

/** Returns the URLs and sent files that the options name, each with the first option that names it. */
export function sourcesIn(tool: Tool, options: Values): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  replaceSources(tool, options, (source, option) => {
    if (!found.has(source)) found.set(source, option);
    return source;
  });
  return found;
}

/** Replaces every URL and sent file that the options name. `index` counts those of one option. */
export function replaceSources(
  tool: Tool,
  options: Values,
  replaceAt: (source: string, option: string, index: number) => string,
): Values {
  const counts = new Map<string, number>();
  const replace = (source: string, option: string) => {
    const index = counts.get(option) ?? 0;
    counts.set(option, index + 1);
    return replaceAt(source, option, index);
  };
  const entries = Object.entries(options).map(([key, value]) => {
    const { namesSource: isSource, readers, names } = tool.options[key] ?? {};
    if (isSource) return [key, replaceIn(value, (source) => replace(source, names?.[0] ?? key))];
    if (!readers) return [key, value];
    const steps = (value as readonly { readonly operator: string; readonly value: unknown }[]).map((step) =>
      readers[step.operator]?.namesSource
        ? { ...step, value: replaceIn(step.value, (source) => replace(source, step.operator)) }
        : step,
    );
    return [key, steps];
  });
  return Object.fromEntries(entries);
}

/** Replaces sources in a value or in a list of values. */
function replaceIn(value: unknown, replace: (source: string) => string): unknown {
  if (typeof value === 'string') return isSource(value) ? replace(value) : value;
  return Array.isArray(value) ? value.map((each: unknown) => replaceIn(each, replace)) : value;
}

function isSource(value: string): boolean {
  return /^https?:\/\//i.test(value) || isSentFile(value);
}

/** Matches spellings that people use for local files. */
const FILE_NAME = /^(@|file:|~?\/(?!\/)|\.{1,2}[/\\]|[a-z]:\\)|^[^:/?#]+\.[a-z0-9]{2,5}$/i;

/**
 * Reads the `infile` of a caller who can also send files. Returns a `data:` or `s3:` URL or `upload:ID` unchanged, and HTML or SVG
 * as a `data:` URL.
 * @throws ConversionError `BAD_ADDRESS`.
 */
export function readSource(text: string): string {
  if (/^data:/i.test(text)) {
    typeOfDataUrl(text);
    return text;
  }
  const type = typeOfMarkup(text);
  if (type !== undefined)
    return `data:${type};charset=utf-8,${encodeURIComponent(asUtf8(text.toWellFormed()))}`;
  if (isBucketUrl(text)) return text;
  if (text.startsWith('upload:') && isUploadId(text.slice('upload:'.length))) return text;
  if (!FILE_NAME.test(text)) return readSourceUrl(text);
  const file = quote(text);
  throw new ConversionError(
    'BAD_ADDRESS',
    `Parameter 'infile' must be a URL, got the file name ${file}. Send the file itself with 'curl -F infile=@FILE -F app=… -F outfile=…'.`,
  );
}

/**
 * Reads `infile` as a normalized URL.
 * @throws ConversionError `BAD_ADDRESS`.
 */
export function readSourceUrl(text: string): string {
  const url = readUrl(text);
  if (url !== undefined) return url;
  throw new ConversionError('BAD_ADDRESS', `Parameter 'infile' must be ${URL_RULE}, got ${quote(text)}.`);
}
