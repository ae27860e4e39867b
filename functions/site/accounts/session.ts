import type { HttpRequest } from '../../router/http.ts';
import { SESSION_LIFETIME } from './members.ts';

/** Returns the cookie of a session. If it is sent over TLS only, its name keeps other hosts from setting it. */
export function sessionCookie(base: string, session: string): string {
  const isSecure = base.startsWith('https:');
  const life = session === '' ? 0 : SESSION_LIFETIME / 1000;
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${life}${isSecure ? '; Secure' : ''}`;
  return `${cookieName(isSecure)}=${session}; ${attributes}`;
}

/** Reads the session of a request. */
export function sessionIn({ header }: HttpRequest, base: string): string | undefined {
  const name = cookieName(base.startsWith('https:'));
  const pairs = (header('cookie') ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([key]) => key === name)?.[1];
}

function cookieName(isSecure: boolean): string {
  return isSecure ? '__Host-docmill' : 'docmill';
}
