import { byId, create } from '../dom.ts';
import { readVisitor, type Visitor } from '../service.ts';
import { TEXT } from './text.ts';

const key = byId<HTMLInputElement>('key');
let visitor: Visitor = { canSignIn: false };
let wasMember = false;

/** Returns what a conversion is sent with: a key that was entered, or the session. */
export const accessOf = () => ({ key: key.value.trim(), isMember: visitor.email !== undefined });

/** Returns why the visitor cannot send a file, if so. */
export function refusal(): string | undefined {
  if (key.value.trim() !== '' || visitor.email !== undefined) return undefined;
  return wasMember ? TEXT.errors.expired : TEXT.errors.signIn;
}

/** Returns a link that signs in without leaving the page, unless nobody can sign in. */
export function signInLink(): HTMLElement[] {
  if (!visitor.canSignIn) return [];
  const { href } = byId<HTMLAnchorElement>('sign-in');
  return [create('p', {}, create('a', { href, target: '_blank', className: 'button-like' }, TEXT.signIn))];
}

/** Reads who is signed in, and shows what that means. */
export async function refresh(): Promise<void> {
  visitor = await readVisitor().catch(() => visitor);
  const { email, canSignIn } = visitor;
  if (email !== undefined) wasMember = true;
  byId('signed-in').hidden = email === undefined;
  byId('signed-in').textContent = email === undefined ? '' : TEXT.signedIn(email);
  byId('demo').hidden = email !== undefined;
  byId('sign-in').hidden = !canSignIn;
}

/** Shows and hides the field for a key. */
export function offerKey(): void {
  const button = byId('use-key');
  button.addEventListener('click', () => {
    const field = byId('key-field');
    field.hidden = !field.hidden;
    button.setAttribute('aria-expanded', String(!field.hidden));
    if (!field.hidden) key.focus();
  });
}
