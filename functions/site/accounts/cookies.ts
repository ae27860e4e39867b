import type { HttpRequest } from '../../router/http.ts';
import { SESSION_LIFETIME } from './members.ts';

const SESSION = 'docmill';

/** Returns a cookie for `milliseconds`. Its name keeps other hosts from setting it if it is sent over TLS only. */
export function cookieOf(base: string, name: string, value: string, milliseconds: number): string {
  const secure = base.startsWith('https:') ? '; Secure' : '';
  const attributes = `Path=/; HttpOnly; SameSite=Lax; Max-Age=${milliseconds / 1000}${secure}`;
  return `${fullName(base, name)}=${value}; ${attributes}`;
}

/** Returns the value of a cookie that a request was sent with. */
export function cookieIn({ header }: HttpRequest, base: string, name: string): string | undefined {
  const pairs = (header('cookie') ?? '').split(';').map((pair) => pair.trim().split('='));
  return pairs.find(([key]) => key === fullName(base, name))?.[1];
}

/** Returns the cookie of a session, or the one that removes it if `session` is empty. */
export function sessionCookie(base: string, session: string): string {
  return cookieOf(base, SESSION, session, session === '' ? 0 : SESSION_LIFETIME);
}

/** Returns the session that a request was sent with. */
export function sessionIn(request: HttpRequest, base: string): string | undefined {
  return cookieIn(request, base, SESSION);
}

function fullName(base: string, name: string): string {
  return base.startsWith('https:') ? `__Host-${name}` : name;
}
