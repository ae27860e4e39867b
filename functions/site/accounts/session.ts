import type { HttpRequest } from '../../router/http.ts';
import { SESSION_LIFETIME } from './members.ts';

/** The cookie of a session, whose name keeps other hosts from setting it if it is sent over TLS only. */
export function sessionCookie(base: string, session: string): string {
  const isSecure = base.startsWith('https:');
  const life = session === '' ? 0 : SESSION_LIFETIME / 1000;
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${life}${isSecure ? '; Secure' : ''}`;
  return `${cookieName(isSecure)}=${session}; ${attributes}`;
}

/** Reads the session that a request was sent with. */
export function sessionIn({ header }: HttpRequest, base: string): string | undefined {
  const name = cookieName(base.startsWith('https:'));
  const pairs = (header('cookie') ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([key]) => key === name)?.[1];
}

function cookieName(isSecure: boolean): string {
  return isSecure ? '__Host-docmill' : 'docmill';
}
