import { ConversionError } from './errors.ts';
import { FORMATS, type Format, readFormat } from './formats.ts';
import { quote } from './quote.ts';
import type { Tool } from './tool.ts';

/** How results are named: one file, one file per page from a `%d` pattern, or one archive of all pages. */
export type OutputName =
  | { readonly kind: 'one'; readonly name: string }
  | { readonly kind: 'numbered'; readonly pattern: string }
  | { readonly kind: 'archive'; readonly name: string; readonly pattern: string };

/** Maximum number of characters of `outfile`. */
export const MAX_NAME_LENGTH = 180;

const NUMBER = /%(?:0([1-9]))?d/g;
/** With what separates it from the rest of the name. */
const SEPARATED_NUMBER = /[-_. ]*%(?:0[1-9])?d/g;

/**
 * Reads `outfile`: its last path segment, whose extension selects the format.
 * @throws ConversionError `BAD_PARAMETER` for an invalid name, `UNSUPPORTED_CONVERSION` for an unknown extension.
 */
export function readOutputName(outfile: string): { format: Format; outputName: OutputName } {
  // Callers may write `*`, which needs no encoding in a query.
  const name = restorePadding(outfile).replaceAll('*', '%d').split(/[/\\]/).at(-1)!.trim();
  const archived = /\.zip$/i.test(name);
  const pattern = archived ? name.slice(0, -4) : name;
  const plain = pattern.replace(NUMBER, '');
  if (name.length > MAX_NAME_LENGTH || !/^[\p{L}\p{N} ._-]+$/u.test(plain) || /^\.|\.\./.test(pattern)) {
    throw new ConversionError(
      'BAD_PARAMETER',
      `Parameter 'outfile' must be a file name such as page.png, of at most ${MAX_NAME_LENGTH} letters, digits, spaces, '.', '_' and '-', with at most one '%d', got ${quote(outfile)}.`,
    );
  }

  const formatOf = (named: string) => readFormat(/[^.]\.([a-z0-9]+)$/i.exec(named)?.[1] ?? '');
  const inArchive = formatOf(pattern);
  const format = inArchive ?? formatOf(name);
  if (format === undefined) {
    throw new ConversionError(
      'UNSUPPORTED_CONVERSION',
      `Parameter 'outfile' must end with the extension of an output format, got ${quote(outfile)}.`,
    );
  }

  const numbers = pattern.match(NUMBER) ?? [];
  if (numbers.length > 1) {
    throw new ConversionError(
      'BAD_PARAMETER',
      `Parameter 'outfile' must contain '%d' at most once, got ${quote(outfile)}.`,
    );
  }
  if (archived && inArchive !== undefined) {
    const archive = name.replace(SEPARATED_NUMBER, '').replace(/^\./, 'pages.');
    return { format, outputName: { kind: 'archive', name: archive, pattern: withNumber(pattern) } };
  }
  if (numbers.length === 1) return { format, outputName: { kind: 'numbered', pattern } };
  return { format, outputName: { kind: 'one', name } };
}

/**
 * Returns the format if the tool can write it as one file, or as one file per page, as requested.
 * @throws ConversionError `UNSUPPORTED_CONVERSION`.
 */
export function checkFormat(tool: Tool, format: Format, { kind }: OutputName): Format {
  const formats = kind === 'one' ? tool.formats : tool.paged;
  if (formats.includes(format)) return format;
  const shape = kind === 'one' ? `a .${format} file` : `one .${format} file per page`;
  const offer = formats.map((known) => `.${known}`).join(', ');
  const instead = offer === '' ? 'always writes a single file' : `writes ${offer}`;
  const unwritten = tool.unwritten?.[format];
  const reason = unwritten === undefined ? '' : ` ${unwritten}`;
  throw new ConversionError(
    'UNSUPPORTED_CONVERSION',
    `Parameter 'outfile' asks for ${shape}, but ${tool.name} ${instead}.${reason}`,
  );
}

/** Restores a `%03d` that was not encoded: decoding a query turns `%03` into a control character. */
function restorePadding(outfile: string): string {
  return outfile.replace(/\p{Cc}(?=d)/gu, (control) => {
    const digits = control.charCodeAt(0);
    return digits >= 1 && digits <= 9 ? `%0${digits}` : control;
  });
}

/** Returns the file name of one page: `%d` or `%03d` is replaced with the page number. */
export function pageName(pattern: string, page: number): string {
  return pattern.replace(NUMBER, (_, digits?: string) => String(page).padStart(Number(digits ?? 0), '0'));
}

function withNumber(pattern: string): string {
  if (pattern.search(NUMBER) >= 0) return pattern;
  return pattern.replace(/(\.[^.]+)$/, '-%d$1');
}

/** Returns the media type of the files that a conversion stores. */
export function contentTypeOf({ format, outputName }: { format: Format; outputName: OutputName }): string {
  return outputName.kind === 'archive' ? 'application/zip' : FORMATS[format].contentType;
}
