import { readPdf } from '../../helpers/pdf.ts';
import type { CompleteOffice } from '../../soffice/convert.ts';
import type { Outcome } from './judge.ts';

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
