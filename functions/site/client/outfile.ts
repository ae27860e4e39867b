import { formatNamed } from '../../shared/extensions.ts';

/** Splits a file name into what precedes its extension, the extension, and `.zip` if it is an archive. */
const PARTS = /^(.*?)(?:\.([^.]*))?(\.zip)?$/is;

/** Returns the name of the format that a file name selects, such as `png` for `pages.PNG.zip`. May be empty. */
export function formatIn(outfile: string): string {
  return formatNamed(PARTS.exec(outfile)?.[2] ?? '');
}

/** Replaces the extension of a file name. An archive remains one. */
export function withFormat(outfile: string, format: string): string {
  const [, base = '', , zip = ''] = PARTS.exec(outfile) ?? [];
  return `${base}.${format}${zip}`;
}
