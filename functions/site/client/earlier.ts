// The results of the last day that this browser has made, so that a reload loses none of them.

import { byId, create, sizeOf } from './result.ts';
import { safe } from './results.ts';
import type { Output } from './service.ts';

const PLACE = 'results';
const MAX_KEPT = 100;

interface Kept extends Pick<Output, 'name' | 'url' | 'bytes'> {
  /** When the URL expires, in epoch milliseconds. */
  readonly until: number;
  readonly email: string;
}

/** Returns the results that can still be downloaded, the newest first. */
function read(): readonly Kept[] {
  try {
    const all = JSON.parse(localStorage.getItem(PLACE) ?? '[]') as Kept[];
    return all.filter(({ until }) => until > Date.now());
  } catch {
    // The browser keeps nothing, or something else was stored.
    return [];
  }
}

/** Keeps results of a member for the next visit. */
export function keepResults(outputs: readonly Output[], email: string): void {
  const added = outputs.flatMap(({ name, url, bytes, expires }) =>
    expires === undefined ? [] : [{ name, url, bytes, until: Date.parse(expires), email }],
  );
  try {
    localStorage.setItem(PLACE, JSON.stringify([...added, ...read()].slice(0, MAX_KEPT)));
  } catch {
    // Without room, only a reload loses the list.
  }
}

/** Lists what this browser has made for the member who is signed in. Results of this visit are in their items. */
export function showEarlier(email: string | undefined): void {
  const own = read().filter((each) => each.email === email);
  const rows = own.map(({ name, url, bytes }) =>
    create(
      'li',
      {},
      create('a', { href: safe(url), download: name, textContent: name }),
      bytes === undefined ? '' : ` · ${sizeOf(bytes)}`,
    ),
  );
  byId('earlier').hidden = rows.length === 0;
  byId('earlier-items').replaceChildren(...rows);
}

/** Forgets everything that this browser has made. */
export function forgetResults(): void {
  localStorage.removeItem(PLACE);
  byId('earlier').hidden = true;
}
