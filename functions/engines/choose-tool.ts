import type { SourceFacts } from '../shared/source/facts.ts';
import { kindOfBytes, kindOfType } from '../shared/source/file-kind.ts';
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

/** The tools that write PDFs. */
export const WRITERS = ['pdftools', 'imageproc', 'html2pdf', 'doc2any'].map((name) => ({
  name,
  formats: ['pdf'],
  paged: [],
}));

const PAGE = ['html2pdf', 'html2image', 'doc2any'];
const DRAWING = ['imageproc', 'html2pdf'];
/** A PDF of a browser keeps the shapes of a drawing. */
const DRAWING_TO_PDF = DRAWING.toReversed();
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

/** Returns the names of the tools that can read a source, the best one first. */
export function readersOf({ head, name, contentType }: SourceFacts, format = ''): readonly string[] {
  const drawing = format === 'pdf' ? DRAWING_TO_PDF : DRAWING;
  if (SVG.test(head)) return drawing;
  if (PAGE_START.test(head)) return PAGE;
  const kind = kindOfBytes(head);
  if (kind) return kind.tool === 'html2pdf' ? PAGE : kind.tool ? [kind.tool] : [];
  const extension = /\.([a-z0-9]{1,8})$/i.exec(name)?.[1]?.toLowerCase() ?? '';
  const type = kindOfType(contentType)?.tool;
  if (extension === 'svg' || contentType === 'image/svg+xml') return drawing;
  if (PAGE_EXTENSION.test(extension) || /^(text\/html|application\/xhtml\+xml)$/.test(contentType))
    return PAGE;
  if (readInput(extension) !== undefined) return ['doc2any'];
  if (IMAGE_EXTENSION.test(extension)) return ['imageproc'];
  if (type !== undefined) return [type];
  if (contentType.startsWith('text/') || isText(head)) return ['doc2any'];
  return [];
}

/** Whether bytes are text without control characters, in an encoding that extends ASCII. */
function isText(head: string): boolean {
  return head !== '' && !/[^\t\n\f\r -~\x80-\xff]/.test(head);
}
