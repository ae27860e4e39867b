import type { Protocol } from 'puppeteer-core';
import { openOutput } from '../engines/chromium/output.ts';
import type { Session } from '../engines/chromium/page/session.ts';
import { unblock } from '../engines/chromium/page/wait/virtual-time.ts';
import { countPages } from '../engines/pdf/page-count.ts';
import { ConversionError, megabytes } from '../shared/errors.ts';
import type { ConversionLimits } from '../shared/tool.ts';

const CHUNK = 1 << 20;

/**
 * Prints the page to a file and returns its page count.
 * @throws ConversionError `RESULT_TOO_LARGE`.
 */
export async function printToFile(
  session: Session,
  settings: Protocol.Page.PrintToPDFRequest,
  { path, limits }: { path: string; limits: ConversionLimits },
): Promise<number> {
  const { protocol } = session;
  const printing = protocol.send('Page.printToPDF', { ...settings, transferMode: 'ReturnAsStream' });
  // A page that had lazy images is printed in a later task.
  const { stream } = await unblock(session, printing);
  const file = await openOutput(path);
  try {
    for (let bytes = 0, eof = false; !eof; ) {
      const chunk = await protocol.send('IO.read', { handle: stream!, size: CHUNK });
      const data = Buffer.from(chunk.data, chunk.base64Encoded ? 'base64' : 'utf8');
      bytes += data.length;
      if (bytes > limits.resultBytes) throw tooLargeError(megabytes(limits.resultBytes));
      await file.write(data);
      eof = chunk.eof;
    }
  } finally {
    await file.close();
    await protocol.send('IO.close', { handle: stream! });
  }
  const pageCount = await countPages(path);
  if (pageCount === 0) throw new ConversionError('CONVERSION_FAILED', 'The page could not be printed.');
  if (pageCount > limits.pages) throw tooLargeError(`${limits.pages} pages`);
  return pageCount;
}

export function tooLargeError(bound: string): ConversionError {
  return new ConversionError('RESULT_TOO_LARGE', `The PDF exceeds the limit of ${bound}.`);
}
