import { ConversionError } from '../errors.ts';
import type { OutputName } from '../output-name.ts';
import type { Format, Tool } from '../tool.ts';
import { quote } from './parameters.ts';

const URL_LENGTH = 8000;

/**
 * Reads `infile`.
 * @throws ConversionError `BAD_ADDRESS`.
 */
export function readSourceUrl(text: string): string {
  const rule = `Parameter 'infile' must be an absolute http or https URL of at most ${URL_LENGTH} characters`;
  const url = text.length <= URL_LENGTH ? URL.parse(text) : null;
  if (url && /^https?:$/.test(url.protocol) && url.hostname) return url.href;
  throw new ConversionError('BAD_ADDRESS', `${rule}, got ${quote(text)}.`);
}

/**
 * Returns the format if the tool writes it in this shape: one file, or one per page.
 * @throws ConversionError `UNSUPPORTED_CONVERSION`.
 */
export function checkFormat(tool: Tool, format: Format, { kind }: OutputName): Format {
  const formats = kind === 'one' ? tool.formats : tool.paged;
  if (formats.includes(format)) return format;
  const shape = kind === 'one' ? `a .${format} file` : `one .${format} file per page`;
  const offer = formats.map((known) => `.${known}`).join(', ');
  const instead = offer === '' ? 'always writes a single file' : `writes ${offer}`;
  throw new ConversionError(
    'UNSUPPORTED_CONVERSION',
    `Parameter 'outfile' asks for ${shape}, but ${tool.name} ${instead}.`,
  );
}
