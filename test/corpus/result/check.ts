import sharp from 'sharp';
import { drawPage, readPdf } from '../../helpers/pdf.ts';
import { difference, isBlank } from '../../helpers/pixels.ts';
import type { Case } from '../files/kinds.ts';
import { whyEmpty } from './empty.ts';

const BLANK = 'blank';
/** Maximum number of pages that are drawn to find one that is not blank. */
const PAGES_LOOKED_AT = 10;
/** Maximum difference of an image from its source; see `difference`. */
const UNLIKE = 12;

export interface Finding {
  /** Why a result is wrong. */
  readonly wrong?: string;
  /** Additional information about a good result. */
  readonly note?: string;
}

/** Checks a result: whether it opens, has pages, is not blank, and shows the same as its source. */
export async function checkResult(which: Case, source: string, bytes: Buffer): Promise<Finding> {
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
