import { readInput } from '../../functions/engines/office/inputs.ts';
import { FORMATS, IMAGES, readFormat } from '../../functions/shared/formats.ts';
import type { Tool } from '../../functions/shared/tool.ts';
import { doc2any, html2image, html2pdf, imageproc, pdftools } from '../../functions/tools.ts';
import type { Input } from './inputs.ts';

const PAGES = new Set(['html', 'htm', 'xhtml', 'zip']);

/** Chooses the tool for a source and an output format, by the extension of the source or else by its first bytes. */
export async function chooseTool(input: Input, format: string): Promise<Tool> {
  const extension = /\.([a-z0-9]{1,5})$/i.exec(input.path)?.[1]?.toLowerCase();
  if (extension === 'pdf') return pdftools;
  if (extension === 'svg' && format === 'pdf') return html2pdf;
  // A URL without the extension of a document counts as a page.
  const isPage = extension === undefined || readInput(extension) === undefined;
  if ((extension !== undefined && PAGES.has(extension)) || (!input.open && isPage && !isImage(extension)))
    return toolForPage(format);
  if (extension !== undefined) return readInput(extension) ? doc2any : imageproc;
  const head = Buffer.from(await (await input.open!()).slice(0, 16).arrayBuffer());
  if (FORMATS.pdf.matches(head)) return pdftools;
  if (IMAGES.some((image) => FORMATS[image].matches(head))) return imageproc;
  return /^\s*</.test(head.toString('latin1')) ? toolForPage(format) : doc2any;
}

function toolForPage(format: string): Tool {
  if (format === 'pdf') return html2pdf;
  return html2image.formats.some((known) => known === format) ? html2image : doc2any;
}

function isImage(extension: string | undefined): boolean {
  const format = readFormat(extension ?? '');
  return extension === 'svg' || (format !== undefined && IMAGES.includes(format));
}
