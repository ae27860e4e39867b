import { kindOfBytes, kindOfType, READERS, type SourceFacts } from '../shared/source/file-kind.ts';
import { readInput } from './office/inputs.ts';

/** The parts of a tool that decide whether it can write a result. */
interface Writer {
  readonly name: string;
  readonly formats: readonly string[];
  readonly paged: readonly string[];
}

/** The result that a caller wants. */
interface Target {
  readonly format: string;
  /** Whether there is one file per page. */
  readonly isPaged: boolean;
}

const SVG = /^\s*(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*|<!doctype svg[^>]*>\s*)*<svg[\s>]/i;
const PAGE_START =
  /^(\xef\xbb\xbf)?\s*(<\?xml[^>]*>\s*)?(<!--[\s\S]*?-->\s*)*<(!doctype html|html|head|body|title|meta|div|p|h1|table|style)\b/i;
/** Extensions of images that no first bytes identify, or not all of them. */
const IMAGE_EXTENSION =
  /^(jpe?g|png|gif|webp|avif|heic|heif|tiff?|bmp|ico|psd|tga|jp2|jxl|ppm|pgm|pbm|pnm|pcx|dds|exr|hdr|qoi)$/;
const PAGE_EXTENSION = /^(html?|xhtml|zip)$/;

/**
 * Returns the tool that converts a source, by its first bytes or else by its name and its media type. If none of the
 * tools that read the source can write the result, returns the one whose error says what it can write. Returns
 * `undefined` for a source of an unknown kind.
 */
export function chooseTool<T extends Writer>(
  facts: SourceFacts,
  { format, isPaged }: Target,
  tools: readonly T[],
): T | undefined {
  const readers = readersOf(facts, format)
    .map((name) => tools.find((tool) => tool.name === name))
    .filter((tool) => tool !== undefined);
  return readers.find((tool) => (isPaged ? tool.paged : tool.formats).includes(format)) ?? readers[0];
}

/** Returns the names of the tools that can read a source, the best one first. The first one for `pdf` writes it. */
export function readersOf({ head, name, contentType }: SourceFacts, format = ''): readonly string[] {
  // A PDF of a browser keeps the shapes of a drawing.
  const drawing = format === 'pdf' ? READERS.drawing.toReversed() : READERS.drawing;
  if (SVG.test(head)) return drawing;
  if (PAGE_START.test(head)) return READERS.page;
  const kind = kindOfBytes(head);
  if (kind) return kind.readers;
  const extension = /\.([a-z0-9]{1,8})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  if (extension === 'svg' || contentType === 'image/svg+xml') return drawing;
  if (PAGE_EXTENSION.test(extension) || /^(text\/html|application\/xhtml\+xml)$/.test(contentType))
    return READERS.page;
  if (readInput(extension) !== undefined) return READERS.document;
  if (IMAGE_EXTENSION.test(extension)) return READERS.image;
  const type = kindOfType(contentType);
  if (type) return type.readers;
  if (contentType.startsWith('text/') || isText(head)) return READERS.document;
  return [];
}

/** Whether bytes are text without control characters, in an encoding that extends ASCII. */
function isText(head: string): boolean {
  return head !== '' && !/[^\t\n\f\r -~\x80-\xff]/.test(head);
}
