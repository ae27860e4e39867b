import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pdf } from 'pdf-to-img';
import { CompoundFile } from '../../../functions/engines/office/detect/compound-file.ts';
import { isBlank } from '../../helpers/pixels.ts';
import { unzip } from '../../helpers/zip.ts';

/** Visible content: texts, cell values, images and shapes of OOXML and ODF. */
const SHOWN =
  /<(w:t|w:drawing|w:pict|w:object|a:t|a:blip|p:pic|p:graphicFrame|v|is|xdr:\w+|text:p|draw:\w+)[ >]/;
const PARTS =
  /^(word\/[^/]+\.xml|xl\/(worksheets|drawings)\/[^/]+\.xml|ppt\/slides\/[^/]+\.xml|content\.xml)$/;

/** Records of BIFF that hold a cell's value or a drawing: FORMULA, NUMBER, LABEL, RK, MULRK, LABELSST, OBJ, MSODRAWING. */
const FILLED = new Set([0x06, 0x203, 0x204, 0x27e, 0xbd, 0xfd, 0x5d, 0xec]);

/**
 * Returns why a source is blank, according to other readers than the service's engines, or `undefined` if it
 * is not blank.
 */
export async function whyEmpty(path: string): Promise<string | undefined> {
  const bytes = await readFile(path);
  if (/\.pdf$/i.test(path))
    return (await isBlankPdf(bytes)) ? 'pdf.js draws nothing on its first page' : undefined;
  if (bytes.subarray(0, 2).toString() === 'PK') {
    const parts = (await unzip(bytes)).filter(({ name }) => PARTS.test(name));
    const shows = parts.some(({ content }) => SHOWN.test(content.toString()));
    return shows || parts.length === 0 ? undefined : 'its parts hold no text, cell or picture';
  }
  if (/\.xls$/i.test(path))
    return hasFilledCells(bytes) ? undefined : 'its workbook has no filled cell or drawing';
  return undefined;
}

async function isBlankPdf(bytes: Buffer): Promise<boolean> {
  const assets = dirname(createRequire(import.meta.url).resolve('pdfjs-dist/package.json'));
  const docInitParams = {
    wasmUrl: join(assets, 'wasm/'),
    cMapUrl: join(assets, 'cmaps/'),
    cMapPacked: true,
    standardFontDataUrl: join(assets, 'standard_fonts/'),
    verbosity: 0,
  };
  const document = await pdf(bytes, { docInitParams });
  return isBlank(await document.getPage(1));
}

/** Reads the records of the workbook: two bytes for the type, two for the length. */
function hasFilledCells(bytes: Buffer): boolean {
  const file = new CompoundFile(bytes);
  const workbook = file.head(file.has('Workbook') ? 'Workbook' : 'Book', bytes.length);
  for (let at = 0; at + 4 <= workbook.length; at += 4 + workbook.readUInt16LE(at + 2)) {
    if (FILLED.has(workbook.readUInt16LE(at))) return true;
  }
  return workbook.length === 0;
}
