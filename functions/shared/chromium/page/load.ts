import { ConversionError } from '../../errors.ts';
import { within } from '../../timeout.ts';
import type { PageFailure, PageRequest } from '../request.ts';
import { watchDocument } from './navigation.ts';
import { prepare } from './prepare.ts';
import type { Session } from './session.ts';
import { settle } from './stabilize.ts';
import { addStyleSheet } from './style-sheet.ts';
import type { Viewport } from './viewport.ts';
import { waitAsAsked } from './waits.ts';

/** Milliseconds until the document must be there, and, from then on, its images, scripts and style sheets. */
const DOCUMENT_TIME = 30_000;
const LOAD_TIME = 20_000;
/** Milliseconds after which a document that is still being read gets frames, which until then would only take time from it. */
const FRAMELESS_TIME = 100;
/** Times a page may go on to another one by itself. */
const MOVES = 5;

/**
 * Leads a page to its address and waits until it looks as it is meant to.
 * @throws ConversionError `SOURCE_STATUS`, `SOURCE_UNREACHABLE`, `SOURCE_TIMEOUT`, `UNSUPPORTED_SOURCE`, `CORRUPT_SOURCE`.
 */
export async function visit(
  session: Session,
  request: PageRequest,
  viewport: Viewport,
  tell: (failure: PageFailure) => void,
): Promise<void> {
  const { protocol } = session;
  const { url, options } = request;
  const watched = watchDocument(session);
  await prepare(session, request, viewport);

  const late = new ConversionError('SOURCE_TIMEOUT', 'The page did not answer in time.');
  const navigation = protocol.send('Page.navigate', { url });
  const { errorText, isDownload } = await within(DOCUMENT_TIME, navigation, late);
  const check: typeof watched.check = (outcome) => {
    try {
      watched.check(outcome);
    } catch (error) {
      tell({ failed: watched.url() });
      throw error;
    }
  };
  check({ errorText, isDownload, options });

  // A page that is not parsed for long may be waiting for a frame.
  const begin = setTimeout(() => session.frames.start(), FRAMELESS_TIME);
  await within(DOCUMENT_TIME, watched.parsed(), late).finally(() => clearTimeout(begin));
  session.frames.start();
  await addStyleSheet(session, request.styleSheet);
  if (options.waitUntil !== 'domcontentloaded') await within(LOAD_TIME, watched.loaded());
  await waitAsAsked(session, watched, options);
  for (let moves = 0; ; moves++) {
    if (moves > MOVES) throw new ConversionError('SOURCE_UNREACHABLE', 'The page never stays where it is.');
    const document = watched.document();
    await settle(session, { options, viewport, watched }).catch((error: unknown) => {
      if (watched.document() === document) throw error;
    });
    if (watched.document() === document) break;
    // The page went on to another one: by a script, or by a refresh in its head.
    await within(DOCUMENT_TIME, watched.parsed(), late);
    await addStyleSheet(session, request.styleSheet);
    await within(LOAD_TIME, watched.loaded());
  }
  check({ options });
}
