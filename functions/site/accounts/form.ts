import type { HttpRequest } from '../../router/http.ts';

const MAX_FORM = 4096;
/** Timeout for receiving a form, in milliseconds. */
const FORM_TIME = 10_000;

/**
 * Whether a form was sent from a page of this site. Browsers report this, and pages of other sites cannot change it.
 */
export function isOwnForm({ header }: HttpRequest, siteOrigin: string): boolean {
  const sender = URL.parse(header('origin') ?? '');
  const site = header('sec-fetch-site');
  return sender?.host === new URL(siteOrigin).host && (site === undefined || site === 'same-origin');
}

/** Reads a form. Returns `undefined` if it is too long or too slow. */
export async function readForm({ body }: HttpRequest): Promise<URLSearchParams | undefined> {
  let text = '';
  const timer = setTimeout(() => body?.destroy(), FORM_TIME);
  try {
    // The connection stays open for the reply.
    for await (const chunk of body?.iterator({ destroyOnReturn: false }) ?? []) {
      text += String(chunk);
      if (text.length > MAX_FORM) break;
    }
  } catch {
    return undefined;
  } finally {
    clearTimeout(timer);
  }
  return text.length > MAX_FORM ? undefined : new URLSearchParams(text);
}
