import { ConversionError } from './errors.ts';
import { FORMATS, readFormat } from './formats.ts';
import { quote } from './options/parameters.ts';
import type { Format } from './tool.ts';

/** How results are named: one file, one per page by a `%d` pattern, or one archive of all pages. */
export type OutputName =
  | { readonly kind: 'one'; readonly name: string }
  | { readonly kind: 'numbered'; readonly pattern: string }
  | { readonly kind: 'archive'; readonly name: string; readonly pattern: string };

const NUMBER = /%(?:0([1-9]))?d/g;

/**
 * Reads `outfile`: its last path segment, whose extension decides the format.
 * @throws ConversionError `BAD_PARAMETER` for a name that breaks the rules, `UNSUPPORTED_CONVERSION` for an extension we do not write.
 */
export function readOutputName(outfile: string): { format: Format; outputName: OutputName } {
  const name = restorePadding(outfile).split(/[/\\]/).at(-1)!.trim();
  const archived = /\.zip$/i.test(name);
  const pattern = archived ? name.slice(0, -4) : name;
  const plain = pattern.replace(NUMBER, '');
  if (name.length > 180 || !/^[\p{L}\p{N} ._-]+$/u.test(plain) || /^\.|\.\./.test(pattern)) {
    throw new ConversionError(
      'BAD_PARAMETER',
      `Parameter 'outfile' must be a file name like page.png of at most 180 letters, digits, spaces, '.', '_', '-' or one '%d', got ${quote(outfile)}.`,
    );
  }

  const extension = /[^.]\.([a-z0-9]+)$/i.exec(pattern)?.[1];
  const format = extension === undefined ? undefined : readFormat(extension);
  if (format === undefined) {
    throw new ConversionError(
      'UNSUPPORTED_CONVERSION',
      `Parameter 'outfile' must end in an extension we write, got ${quote(outfile)}.`,
    );
  }

  const numbers = pattern.match(NUMBER) ?? [];
  if (numbers.length > 1) {
    throw new ConversionError(
      'BAD_PARAMETER',
      `Parameter 'outfile' must hold '%d' once at most, got ${quote(outfile)}.`,
    );
  }
  if (archived) {
    const archive = name.replace(NUMBER, '').replace(/^\./, 'pages.');
    return { format, outputName: { kind: 'archive', name: archive, pattern: withNumber(pattern) } };
  }
  if (numbers.length === 1) return { format, outputName: { kind: 'numbered', pattern } };
  return { format, outputName: { kind: 'one', name } };
}

/** Callers paste `%03d` raw, and whoever decodes the query takes `%03` for a control character. */
function restorePadding(outfile: string): string {
  return outfile.replace(/\p{Cc}(?=d)/gu, (control) => {
    const digits = control.charCodeAt(0);
    return digits >= 1 && digits <= 9 ? `%0${digits}` : control;
  });
}

/** Name of one page's file: `%d` or `%03d` replaced by the page's number. */
export function pageName(pattern: string, page: number): string {
  return pattern.replace(NUMBER, (_, digits?: string) => String(page).padStart(Number(digits ?? 0), '0'));
}

function withNumber(pattern: string): string {
  if (pattern.search(NUMBER) >= 0) return pattern;
  return pattern.replace(/(\.[^.]+)$/, '-%d$1');
}

/** Media type of the files one conversion stores. */
export function contentTypeOf({ format, outputName }: { format: Format; outputName: OutputName }): string {
  return outputName.kind === 'archive' ? 'application/zip' : FORMATS[format].contentType;
}
