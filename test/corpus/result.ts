import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { pdf } from 'pdf-to-img';
import sharp from 'sharp';
import { CompoundFile } from '../../functions/engines/office/detect/compound-file.ts';
import { ERRORS, type ErrorCode } from '../../functions/shared/errors.ts';
import { drawPage, readPdf } from '../helpers/pdf.ts';
import { difference, isBlank } from '../helpers/pixels.ts';
import { unzip } from '../helpers/zip.ts';
import type { CompleteOffice } from '../soffice/convert.ts';
import type { Case, CorpusFile, Expectation } from './files.ts';

/** How a conversion ended: with a good result, a typed error, or something invalid. */
export type Outcome =
  | { readonly kind: 'ok'; readonly note?: string }
  | { readonly kind: 'error'; readonly code: string; readonly message: string }
  | { readonly kind: 'wrong'; readonly reason: string };

/** Codes about the source. Any other code is a fault of the service or of the run. */
const OF_THE_SOURCE: ReadonlySet<string> = new Set<ErrorCode>([
  'UNSUPPORTED_SOURCE',
  'CORRUPT_SOURCE',
  'PASSWORD_REQUIRED',
  'WRONG_PASSWORD',
  'CONVERSION_FAILED',
  'SOURCE_TOO_LARGE',
  'RESULT_TOO_LARGE',
]);

/** Returns why an outcome is not the expected one, or `undefined` if it is. */
export function judge(
  outcome: Outcome,
  expected: Expectation,
  { milliseconds, deadline }: { milliseconds: number; deadline: number },
): string | undefined {
  if (outcome.kind === 'wrong') return outcome.reason;
  if (outcome.kind === 'ok') return expected === 'error' ? 'converted, an error was expected' : undefined;

  const { code, message } = outcome;
  const said = `${code}: ${message}`;
  if (!Object.hasOwn(ERRORS, code)) return `no code of ours: ${said}`;
  if (expected === 'slow' && code === 'TIMED_OUT') return undefined;
  if (expected === 'converts' || expected === 'slow') return said;
  // A source that never ends has its own time limit, long before the deadline.
  const endless = code === 'TIMED_OUT' && expected === 'error';
  if (!OF_THE_SOURCE.has(code) && !endless) return said;
  return milliseconds > deadline / 2 ? `refused only after ${milliseconds} ms: ${said}` : undefined;
}

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
async function whyEmpty(path: string): Promise<string | undefined> {
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

const BLANK = 'blank';
/** Maximum number of pages that are drawn to find one that is not blank. */
const PAGES_LOOKED_AT = 10;
/** Maximum difference of an image from its source; see `difference`. */
const UNLIKE = 12;

interface Finding {
  /** Why a result is wrong. */
  readonly wrong?: string;
  /** Additional information about a good result. */
  readonly note?: string;
}

/** Checks a result: whether it opens, has pages, is not blank, and shows the same as its source. */
async function checkResult(which: Case, source: string, bytes: Buffer): Promise<Finding> {
  const wrong = await fault(which, source, bytes);
  if (wrong !== BLANK) return wrong === undefined ? {} : { wrong };
  const empty = await whyEmpty(source).catch(() => undefined);
  return empty === undefined ? { wrong: BLANK } : { note: `blank, as its source: ${empty}` };
}

async function fault({ app, outfile }: Case, source: string, bytes: Buffer): Promise<string | undefined> {
  try {
    if (outfile.endsWith('.pdf')) return await checkPdf(bytes);
    if (app === 'imageproc') return await checkImage(source, bytes);
    return (await isBlank(bytes)) ? BLANK : undefined;
  } catch (error) {
    return `does not open: ${(error as Error).message}`;
  }
}

async function checkPdf(bytes: Buffer): Promise<string | undefined> {
  const { pages } = await readPdf(bytes);
  if (pages.length === 0) return 'no pages';
  for (let page = 1; page <= Math.min(pages.length, PAGES_LOOKED_AT); page++) {
    if (!(await isBlank(await drawPage(bytes, page)))) return undefined;
  }
  return BLANK;
}

/** An image must look like its source. A source that cannot be read here must at least result in an image. */
async function checkImage(source: string, bytes: Buffer): Promise<string | undefined> {
  await sharp(bytes).stats();
  const reference = await sharp(source, { failOn: 'none' })
    .autoOrient()
    .resize(256, 256, { fit: 'fill' })
    .png()
    .toBuffer()
    .catch(() => undefined);
  const unlike = reference ? await difference(reference, bytes) : 0;
  return unlike > UNLIKE ? `unlike its source by ${unlike.toFixed(1)}` : undefined;
}

/** Errors for rejected documents, except missing passwords. */
const REJECTIONS: ReadonlySet<string> = new Set([
  'UNSUPPORTED_SOURCE',
  'CORRUPT_SOURCE',
  'CONVERSION_FAILED',
  'SOURCE_TOO_LARGE',
  'TIMED_OUT',
]);

/** Reports if the original program converts a document that the service rejects. Returns `undefined` if it does not. */
export async function convertedElsewhere(
  office: CompleteOffice,
  path: string,
  outcome: Outcome,
): Promise<string | undefined> {
  if (outcome.kind !== 'error' || !REJECTIONS.has(outcome.code)) return undefined;
  const pdf = await office.convert(path);
  const pages = pdf && (await readPdf(pdf).catch(() => undefined))?.pages.length;
  if (!pages) return undefined;
  return `soffice converts it (${pages} pages), we do not: ${outcome.code}: ${outcome.message}`;
}

interface Asked {
  readonly base: string;
  readonly apiKey: string;
  readonly address: string;
  /** Timeout in milliseconds for a response. Without one, the conversion counts as hanging. */
  readonly timeout: number;
}

/** Converts one file over HTTP and checks the result. The time is that of the response. */
export async function convertFile(
  file: CorpusFile,
  which: Case,
  { base, apiKey, address, timeout }: Asked,
): Promise<{ outcome: Outcome; milliseconds: number }> {
  const query = new URLSearchParams({ apikey: apiKey, ...which, infile: address });
  const started = performance.now();
  const elapsed = () => Math.round(performance.now() - started);
  try {
    const response = await fetch(`${base}/api/?${query}`, { signal: AbortSignal.timeout(timeout) });
    const body = await response.text();
    const milliseconds = elapsed();
    return {
      outcome: await outcomeOf(body, response.headers.get('x-error-code'), file, which),
      milliseconds,
    };
  } catch (error) {
    const { name, cause = error } = error as Error;
    const reason = name === 'TimeoutError' ? `hang: no answer in ${timeout} ms` : `no answer: ${cause}`;
    return { outcome: { kind: 'wrong', reason }, milliseconds: elapsed() };
  }
}

async function outcomeOf(body: string, code: string | null, file: CorpusFile, which: Case): Promise<Outcome> {
  const error = /^\[ERROR\] (.+) \(([A-Z_]+)\)$/.exec(body);
  if (error && error[2] === code) return { kind: 'error', code: error[2]!, message: error[1]! };
  const address = /^\[Output\] (\S+)<br>$/.exec(body)?.[1];
  if (address === undefined)
    return { kind: 'wrong', reason: `a body of another form: ${body.slice(0, 200)}` };

  const result = await fetch(address);
  if (!result.ok) return { kind: 'wrong', reason: `the result's address answers ${result.status}` };
  const { wrong, note } = await checkResult(which, file.path, Buffer.from(await result.arrayBuffer()));
  if (wrong !== undefined) return { kind: 'wrong', reason: wrong };
  return { kind: 'ok', ...(note && { note }) };
}
