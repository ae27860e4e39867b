import type { HttpRequest } from '../../router/http.ts';
import type { Language } from '../front-texts.ts';
import type { Html } from '../html.ts';
import { type Member, SESSION_LIFETIME } from './members.ts';

const SESSION = 'docmill';

/** Returns a cookie for `milliseconds`. Its name keeps other hosts from setting it if it is sent over TLS only. */
export function cookieOf(origin: string, name: string, value: string, milliseconds: number): string {
  const secure = origin.startsWith('https:') ? '; Secure' : '';
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${milliseconds / 1000}${secure}`;
  return `${fullName(origin, name)}=${value}; ${attributes}`;
}

/** Returns the value of a cookie that a request was sent with. */
export function cookieIn({ header }: HttpRequest, origin: string, name: string): string | undefined {
  const start = `; ${fullName(origin, name)}=`;
  const cookies = `; ${header('cookie') ?? ''};`;
  const index = cookies.indexOf(start);
  return index < 0 ? undefined : cookies.slice(index + start.length, cookies.indexOf(';', index + 1));
}

/** Returns the cookie of a session, or the one that removes it if `session` is empty. */
export function sessionCookie(origin: string, session: string): string {
  return cookieOf(origin, SESSION, session, session === '' ? 0 : SESSION_LIFETIME);
}

/** Returns the session that a request was sent with. */
export function sessionIn(request: HttpRequest, origin: string): string | undefined {
  return cookieIn(request, origin, SESSION);
}

function fullName(origin: string, name: string): string {
  return origin.startsWith('https:') ? `__Host-${name}` : name;
}

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

/** A page, nothing if the page does not exist, or a redirect to `location` after a form. */
export interface AccountReply {
  readonly status: number;
  /** The page of a member in their language, or a page for operators. */
  readonly main?: Html | ((language: Language) => Html);
  /** Title of the page. Defaults to that of the account page. */
  readonly title?: string;
  readonly location?: string;
  /** The signed-in member. */
  readonly member?: Member | undefined;
  /** Token of a new session, or an empty string to end the session. */
  readonly session?: string;
  /** Another cookie, for replies without a session. */
  readonly cookie?: string;
}

/** Responds to a form that a member has sent. */
export type Action = (
  member: Member,
  form: URLSearchParams,
  request: Pick<HttpRequest, 'ip'> & { readonly session: string; readonly language: Language },
) => Promise<AccountReply>;
